import {
  packBlobs,
  type FileCommitAnswer,
  type InvokeResult,
  type Session,
  type StoredFile,
  type TurnResult,
} from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import type { Settings } from '../../src/config/config.js';
import { storesOf } from '../contract/backends.js';
import { FakeClient } from '../support/fake-client.js';
import { suiteFixture, testFixture } from '../support/fixtures.js';
import { startTestServer, type TestUser } from '../support/server.js';
import { ToolsFixture } from '../support/tools-fixture.js';

const FEW_BYTES = { maxStoredBytes: 100, maxUserStoredBytes: 10 };
const FULL = { status: 413, body: { code: 'TOO_LARGE' } };

describe('a quota that is used up [SHARE-1]', () => {
  let fixture: ToolsFixture;
  afterEach(() => fixture.close());
  const start = async (config: Partial<Settings>) => (fixture = await ToolsFixture.start(config));
  const put = (path: string, bytes: string) =>
    fixture.user.request('PUT', `${fixture.base}/contents/${path}`, Buffer.from(bytes));
  const usage = () => storesOf(fixture.server.app).usage.ofWorkspace(fixture.workspaceId);

  it('rejects more bytes by every route and stores nothing of a rejected write', async () => {
    await start(FEW_BYTES);
    expect((await put('a', '12345678')).status).toBe(201);
    const { fileId } = (await put('a', '1')).body as { fileId: string };
    expect(await put('b', 'xx')).toMatchObject({
      status: 413,
      body: {
        code: 'TOO_LARGE',
        error:
          'You have 9 stored bytes in all workspaces, and this would exceed the limit of 10. ' +
          'An operator can raise PATCHBAY_MAX_USER_STORED_BYTES.',
      },
    });
    const pack = packBlobs([Buffer.from('xy'), Buffer.from('z')]);
    expect(await fixture.user.post(`${fixture.base}/blobs`, Buffer.from(pack))).toMatchObject(FULL);
    expect(await fixture.user.request('PUT', `${fixture.base}/blobs/${sha256('xy')}`, 'xy')).toMatchObject(
      FULL,
    );
    expect(await fixture.call('write', { path: '/deep/c', content: 'xx' })).toMatchObject(FULL);
    expect(await fixture.call('edit', { path: '/a', oldString: '1', newString: '23' })).toMatchObject(FULL);
    expect(await fixture.list()).toEqual(['/a']);
    // What is there already takes no room, and neither does what deletes or moves.
    const { versions } = (
      await fixture.user.get<{ versions: { versionId: string }[] }>(
        `${fixture.base}/files/${fileId}/versions`,
      )
    ).body;
    const { versionId } = versions[1]!;
    expect((await fixture.user.post(`${fixture.base}/files/${fileId}/restore`, { versionId })).status).toBe(
      200,
    );
    await fixture.ok('mv', { from: '/a', to: '/b' });
    await fixture.ok('rm', { path: '/b' });
    expect((await usage()).bytes).toBe(9);
  });

  it('accepts exactly the remaining bytes and not one more', async () => {
    await start(FEW_BYTES);
    expect((await put('a', '12345678')).status).toBe(201);
    expect((await put('b', 'xx')).status).toBe(201);
    expect(await put('c', 'y')).toMatchObject(FULL);
  });

  it('counts bytes that were sent and never committed, until they are swept', async () => {
    await start(FEW_BYTES);
    const store = (text: string) =>
      fixture.user.request('PUT', `${fixture.base}/blobs/${sha256(text)}`, text);
    expect((await store('1234567')).status).toBe(200);
    expect((await store('abcd')).status).toBe(413);
    const { blobs } = storesOf(fixture.server.app);
    await blobs.mark(Date.now() + 1, 10, Date.now());
    await blobs.removeMarked(Date.now() + 1, 10);
    expect((await store('abcd')).status).toBe(200);
    // Bytes that are there are committed, however full it is.
    const files = [{ path: '/a', sha256: sha256('abcd'), baseSha256: null }];
    expect((await store('efghij')).status).toBe(200);
    const { body } = await fixture.user.post<FileCommitAnswer>(`${fixture.base}/files/commit`, { files });
    expect(body.files).toEqual([expect.not.objectContaining({ error: expect.anything() as unknown })]);
  });

  it('counts the parent folders of a file, and a deletion frees the quota', async () => {
    await start({ maxFiles: 100, maxUserFiles: 4 });
    await fixture.write('/a/b/c');
    const deep = await fixture.call('write', { path: '/x/y', content: 'z' });
    expect(deep).toMatchObject({
      ...FULL,
      body: { error: expect.stringContaining('Delete some') as string },
    });
    expect(await fixture.call('mkdir', { path: '/x/y' })).toMatchObject(FULL);
    expect(await fixture.list()).toEqual(['/a']);
    await fixture.write('/z');
    expect(await fixture.call('mkdir', { path: '/m' })).toMatchObject(FULL);
    const { file_id } = await fixture.ok('rm', { path: '/z' });
    await fixture.ok('mkdir', { path: '/m' });
    expect(await fixture.user.post(`${fixture.base}/files/${file_id}/restore`, {})).toMatchObject(FULL);
    await fixture.ok('rm', { path: '/m' });
    expect((await fixture.user.post(`${fixture.base}/files/${file_id}/restore`, {})).status).toBe(200);
  });

  it('rejects changes and new folders beyond the quota of versions', async () => {
    await start({ maxVersions: 100, maxUserVersions: 3 });
    await fixture.write('/a', '1');
    await fixture.write('/a', '2');
    await fixture.ok('mkdir', { path: '/m' });
    await fixture.ok('rm', { path: '/m' });
    expect(await fixture.call('mkdir', { path: '/m' })).toMatchObject(FULL);
    expect(await put('a', '3')).toMatchObject(FULL);
    expect(await fixture.read('/a')).toBe('2');
  });

  it('is reported as the code of a call in a turn and of each file in a commit', async () => {
    await start({ maxFiles: 100, maxUserFiles: 1 });
    const { body: session } = await fixture.user.post<Session>(`${fixture.base}/sessions`, {});
    const write = (id: string) => ({
      toolCallId: id,
      name: 'write',
      arguments: { path: `/${id}`, content: id },
    });
    const { body } = await fixture.user.post<InvokeResult<TurnResult>>(
      `${fixture.base}/sessions/${session.sessionId}/turns`,
      { toolCalls: [write('a'), write('b')] },
    );
    expect(body.result.toolResults.map(({ error }) => error?.code)).toEqual([undefined, 'TOO_LARGE']);
    await fixture.ok('rm', { path: '/a' });
    const files = ['/c', '/d'].map((path) => ({ path, sha256: sha256('a'), baseSha256: null }));
    const committed = await fixture.user.post<FileCommitAnswer>(`${fixture.base}/files/commit`, { files });
    const codes = committed.body.files.map((file) => ('error' in file ? file.error.code : null));
    expect(new Set(codes)).toEqual(new Set([null, 'TOO_LARGE']));
  });

  it('rejects an upload of a client, also one beside the head', async () => {
    await start(FEW_BYTES);
    await put('root/a', '12345678');
    const { url } = fixture.server;
    const client = await FakeClient.ready({
      url,
      token: fixture.user.token,
      workspaceId: fixture.workspaceId,
    });
    const upload = { docPath: 'root/a', path: '/root/a', content: Buffer.from('abc'), sha256: sha256('abc') };
    for (const baseSha256 of [null, sha256('12345678')]) {
      const ack = await client.send('files:put', { ...upload, baseSha256 });
      expect(ack).toMatchObject({ ok: false, error: { code: 'TOO_LARGE' } });
    }
    const nowhere = { ...upload, docPath: 'root/b', path: '/root/b', baseSha256: sha256('none') };
    expect(await client.send('files:put', nowhere)).toMatchObject({
      ok: false,
      error: { code: 'TOO_LARGE' },
    });
    client.close();
    expect(await usage()).toMatchObject({ bytes: 8, versions: 2 });
  });

  it('rejects more sessions and lists of Active Files', async () => {
    await start({ maxSessions: 100, maxUserSessions: 1, maxUserStoredBytes: 500 });
    const { body } = await fixture.user.post<Session>(`${fixture.base}/sessions`, { tools: ['read'] });
    expect(await fixture.user.post(`${fixture.base}/sessions`, {})).toMatchObject(FULL);
    const list = (count: number) => ({
      activeFiles: Array.from({ length: count }, (_, at) => {
        const docPath = `f${at}`;
        return { docPath, displayPath: docPath, sha256: sha256(''), sizeBytes: 0, isDirty: false };
      }),
    });
    const path = `${fixture.base}/sessions/${body.sessionId}/active-files`;
    expect((await fixture.user.request('PUT', path, list(2))).status).toBe(200);
    expect(await fixture.user.request('PUT', path, list(9))).toMatchObject(FULL);
    expect((await fixture.user.request('PUT', path, list(3))).status).toBe(200);
  });
});

describe('stored bytes of a former member [SHARE-2]', () => {
  const server = suiteFixture(() => startTestServer({ config: FEW_BYTES }));
  const maker = testFixture(() => server.register());
  const guest = testFixture(() => server.register());
  let workspaceId: string;
  beforeEach(async () => {
    workspaceId = (await maker.createWorkspace()).id;
    await maker.addMember(workspaceId, guest);
    expect(await put(guest, 'left', '12345678')).toBe(201);
  });
  const put = async (user: TestUser, path: string, text: string, id = workspaceId) =>
    (await user.request('PUT', `/workspaces/${id}/contents/${path}`, Buffer.from(text))).status;
  const remove = async (by: TestUser, user: TestUser) =>
    expect((await by.request('DELETE', `/workspaces/${workspaceId}/members/${user.id}`)).status).toBe(204);

  it.each([
    ['left', () => guest],
    ['was removed', () => maker],
  ])('who %s count for the creator of the workspace, in all workspaces', async (_, by) => {
    await remove(by(), guest);
    expect(await put(maker, 'a', 'xyz')).toBe(413);
    expect(await put(maker, 'a', 'xyz', (await maker.createWorkspace()).id)).toBe(413);
    expect(await put(maker, 'a', 'xy')).toBe(201);
    expect(await put(guest, 'a', '1234567890', (await guest.createWorkspace()).id)).toBe(201);
  });

  it('do not let several accounts fill the creator’s workspace one after the other', async () => {
    await remove(guest, guest);
    const second = await server.register();
    await maker.addMember(workspaceId, second);
    expect(await put(second, 'more', 'abcdefgh')).toBe(201);
    await remove(second, second);
    expect(await put(maker, 'b', 'z')).toBe(413);
  });

  it('count for the creator after the file was deleted, because its versions are kept', async () => {
    await remove(maker, guest);
    const removed = { tool: 'rm', args: { path: '/left' } };
    expect((await maker.post(`/workspaces/${workspaceId}/tools`, removed)).status).toBe(200);
    expect(await put(maker, 'a', 'xyz')).toBe(413);
  });

  it('count for the former member again after their return', async () => {
    await remove(maker, guest);
    await maker.addMember(workspaceId, guest);
    expect(await put(maker, 'a', '1234567')).toBe(201);
    expect(await put(guest, 'b', 'xyz')).toBe(413);
  });

  it('count for a creator who has left, and not for the remaining owner', async () => {
    const owner = await server.register();
    await maker.addMember(workspaceId, owner);
    await maker.request('PUT', `/workspaces/${workspaceId}/members/${owner.id}`, { role: 'owner' });
    await remove(owner, guest);
    await remove(owner, maker);
    expect(await put(maker, 'a', 'xyz', (await maker.createWorkspace()).id)).toBe(413);
    expect(await put(owner, 'a', '1234567890')).toBe(201);
  });
});

describe('quotas of several users', () => {
  const server = suiteFixture(() =>
    startTestServer({
      config: { maxFiles: 3, maxUserFiles: 2, maxMembers: 2, maxUserWorkspaces: 2, maxMakerMemberships: 1 },
    }),
  );
  const ada = suiteFixture(() => server.register());
  const ben = suiteFixture(() => server.register());
  const put = (user: TestUser, workspaceId: string, path: string) =>
    user.request('PUT', `/workspaces/${workspaceId}/contents/${path}`, Buffer.from(path));

  it('count for each user over all workspaces, and for each workspace over all users [SHARE-2]', async () => {
    const { id } = await ada.createWorkspace();
    await ada.addMember(id, ben);
    for (const path of ['a', 'b']) expect((await put(ada, id, path)).status).toBe(201);
    expect(await put(ada, id, 'c')).toMatchObject(FULL);
    expect((await put(ben, id, 'c')).status).toBe(201);
    expect(await put(ben, id, 'd')).toMatchObject({
      ...FULL,
      body: { error: expect.stringContaining('The workspace has 3 files') as string },
    });
    const other = (await ada.createWorkspace()).id;
    expect(await put(ada, other, 'a')).toMatchObject(FULL);
    // Whoever deletes it, it was in the share of its maker.
    await ben.post(`/workspaces/${id}/tools`, { tool: 'rm', args: { path: '/a' } });
    expect((await put(ada, other, 'a')).status).toBe(201);
  });

  it.each(['as it was', 'as an older version'])(
    'count a file for the user who restores it %s [SHARE-2]',
    async (how) => {
      const [zoe, max] = await Promise.all([server.register(), server.register()]);
      const { id } = await zoe.createWorkspace();
      await zoe.addMember(id, max);
      const { fileId, versionId } = (await put(zoe, id, 'a')).body as StoredFile;
      await zoe.post(`/workspaces/${id}/tools`, { tool: 'rm', args: { path: '/a' } });
      const which = how === 'as it was' ? {} : { versionId };
      expect((await max.post(`/workspaces/${id}/files/${fileId}/restore`, which)).status).toBe(200);
      const own = (await max.createWorkspace()).id;
      expect((await put(max, own, 'b')).status).toBe(201);
      expect(await put(max, own, 'c')).toMatchObject(FULL);
    },
  );

  it('count workspaces, members and memberships, but not a membership in a workspace of another maker [SHARE-3]', async () => {
    const [zoe, max, kim] = await Promise.all([server.register(), server.register(), server.register()]);
    const full = { status: 409, body: { code: 'CONFLICT' } };
    const made = [await zoe.createWorkspace(), await zoe.createWorkspace()];
    expect(await zoe.post('/workspaces', { name: 'third' })).toMatchObject(full);
    const add = (workspaceId: string, user: TestUser) =>
      zoe.post(`/workspaces/${workspaceId}/members`, { email: user.email, role: 'member' });
    expect((await add(made[0]!.id, max)).status).toBe(201);
    expect(await add(made[0]!.id, kim)).toMatchObject(full);
    expect(await add(made[1]!.id, max)).toMatchObject(full);
    await Promise.all([max.createWorkspace(), max.createWorkspace()]);
    const other = await kim.createWorkspace();
    await kim.addMember(other.id, max);
    await max.request('DELETE', `/workspaces/${made[0]!.id}/members/${max.id}`);
    expect((await add(made[1]!.id, max)).status).toBe(201);
  });

  it('do not count files that a user left in the workspaces of others [SHARE-2]', async () => {
    const [zoe, max] = await Promise.all([server.register(), server.register()]);
    const [theirs, own] = [await zoe.createWorkspace(), await max.createWorkspace()];
    await zoe.addMember(theirs.id, max);
    for (const path of ['a', 'b']) expect((await put(max, theirs.id, path)).status).toBe(201);
    expect(await put(max, own.id, 'c')).toMatchObject(FULL);
    await zoe.request('DELETE', `/workspaces/${theirs.id}/members/${max.id}`);
    expect((await put(max, own.id, 'c')).status).toBe(201);
  });

  it('do not count a workspace that its creator has left [SHARE-3]', async () => {
    const [zoe, max] = await Promise.all([server.register(), server.register()]);
    const [first] = [await zoe.createWorkspace(), await zoe.createWorkspace()];
    await zoe.addMember(first.id, max);
    await zoe.request('PUT', `/workspaces/${first.id}/members/${max.id}`, { role: 'owner' });
    expect((await zoe.post('/workspaces', { name: 'third' })).status).toBe(409);
    await zoe.request('DELETE', `/workspaces/${first.id}/members/${zoe.id}`);
    expect((await zoe.post('/workspaces', { name: 'third' })).status).toBe(201);
    // What one has made takes one back, however many workspaces of theirs one is a member of.
    const back = { email: zoe.email, role: 'member' };
    expect((await max.post(`/workspaces/${first.id}/members`, back)).status).toBe(201);
  });

  it('count workspaces that are created concurrently [SHARE-3]', async () => {
    const zoe = await server.register();
    const made = await Promise.all(Array.from({ length: 5 }, () => zoe.post('/workspaces', { name: 'w' })));
    expect(made.map(({ status }) => status).sort()).toEqual([201, 201, 409, 409, 409]);
  });
});
