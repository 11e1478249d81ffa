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
import { startTestServer, type TestServer, type TestUser } from '../support/server.js';
import { ToolsFixture } from '../support/tools-fixture.js';

const FULL = { status: 413, body: { code: 'TOO_LARGE' } };

describe('a share that is used up [SHARE-1]', () => {
  let fixture: ToolsFixture;
  afterEach(() => fixture.close());
  const start = async (config: Partial<Settings>) => (fixture = await ToolsFixture.start(config));
  const put = (path: string, bytes: string) =>
    fixture.user.request('PUT', `${fixture.base}/contents/${path}`, Buffer.from(bytes));
  const usage = () => storesOf(fixture.server.app).usage.ofWorkspace(fixture.workspaceId);

  it('of bytes takes no more, whatever the way, and keeps nothing of what is refused', async () => {
    await start({ maxStoredBytes: 100, maxUserStoredBytes: 10 });
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

  it('of bytes takes what just fits, and not a byte beyond', async () => {
    await start({ maxStoredBytes: 100, maxUserStoredBytes: 10 });
    expect((await put('a', '12345678')).status).toBe(201);
    expect((await put('b', 'xx')).status).toBe(201);
    expect(await put('c', 'y')).toMatchObject(FULL);
  });

  it('of bytes counts packs that are never committed, until they are swept', async () => {
    await start({ maxStoredBytes: 100, maxUserStoredBytes: 10 });
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

  it('of files counts each folder above one; deleting makes room', async () => {
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

  it('of versions takes neither a change nor another folder made and removed', async () => {
    await start({ maxVersions: 100, maxUserVersions: 3 });
    await fixture.write('/a', '1');
    await fixture.write('/a', '2');
    await fixture.ok('mkdir', { path: '/m' });
    await fixture.ok('rm', { path: '/m' });
    expect(await fixture.call('mkdir', { path: '/m' })).toMatchObject(FULL);
    expect(await put('a', '3')).toMatchObject(FULL);
    expect(await fixture.read('/a')).toBe('2');
  });

  it('is told as the code of the call in a turn, and of each file in a commit', async () => {
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

  it('takes no upload of a client, and none that would be kept beside a head', async () => {
    await start({ maxStoredBytes: 100, maxUserStoredBytes: 10 });
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

  it('of sessions and of lists of Active Files takes no more', async () => {
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

describe('bytes of a former member [SHARE-2]', () => {
  let server: TestServer;
  let maker: TestUser;
  let guest: TestUser;
  let workspaceId: string;
  beforeAll(async () => {
    server = await startTestServer({ config: { maxStoredBytes: 100, maxUserStoredBytes: 10 } });
  });
  afterAll(() => server.close());
  beforeEach(async () => {
    [maker, guest] = await Promise.all([server.register(), server.register()]);
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
  ])('who %s count for the maker of the workspace, in all workspaces', async (_, by) => {
    await remove(by(), guest);
    expect(await put(maker, 'a', 'xyz')).toBe(413);
    expect(await put(maker, 'a', 'xyz', (await maker.createWorkspace()).id)).toBe(413);
    expect(await put(maker, 'a', 'xy')).toBe(201);
    expect(await put(guest, 'a', '1234567890', (await guest.createWorkspace()).id)).toBe(201);
  });

  it('do not let several accounts fill the maker’s workspace one after the other', async () => {
    await remove(guest, guest);
    const second = await server.register();
    await maker.addMember(workspaceId, second);
    expect(await put(second, 'more', 'abcdefgh')).toBe(201);
    await remove(second, second);
    expect(await put(maker, 'b', 'z')).toBe(413);
  });

  it('count for the maker after the file was deleted: its versions are kept', async () => {
    await remove(maker, guest);
    const removed = { tool: 'rm', args: { path: '/left' } };
    expect((await maker.post(`/workspaces/${workspaceId}/tools`, removed)).status).toBe(200);
    expect(await put(maker, 'a', 'xyz')).toBe(413);
  });

  it('count for the former member again once they are back', async () => {
    await remove(maker, guest);
    await maker.addMember(workspaceId, guest);
    expect(await put(maker, 'a', '1234567')).toBe(201);
    expect(await put(guest, 'b', 'xyz')).toBe(413);
  });

  it('count for a maker who has left, and not for the owner who stays', async () => {
    const owner = await server.register();
    await maker.addMember(workspaceId, owner);
    await maker.request('PUT', `/workspaces/${workspaceId}/members/${owner.id}`, { role: 'owner' });
    await remove(owner, guest);
    await remove(owner, maker);
    expect(await put(maker, 'a', 'xyz', (await maker.createWorkspace()).id)).toBe(413);
    expect(await put(owner, 'a', '1234567890')).toBe(201);
  });
});

describe('shares of several', () => {
  let server: TestServer;
  let [ada, ben]: TestUser[] = [];
  beforeAll(async () => {
    const config = {
      maxFiles: 3,
      maxUserFiles: 2,
      maxMembers: 2,
      maxUserWorkspaces: 2,
      maxMakerMemberships: 1,
    };
    server = await startTestServer({ config });
    [ada, ben] = await Promise.all([server.register(), server.register()]);
  });
  afterAll(() => server.close());
  const put = (user: TestUser, workspaceId: string, path: string) =>
    user.request('PUT', `/workspaces/${workspaceId}/contents/${path}`, Buffer.from(path));

  it('leave room to the others: a user’s counts in all workspaces, a workspace’s over all users [SHARE-2]', async () => {
    const { id } = await ada!.createWorkspace();
    await ada!.addMember(id, ben!);
    for (const path of ['a', 'b']) expect((await put(ada!, id, path)).status).toBe(201);
    expect(await put(ada!, id, 'c')).toMatchObject(FULL);
    expect((await put(ben!, id, 'c')).status).toBe(201);
    expect(await put(ben!, id, 'd')).toMatchObject({
      ...FULL,
      body: { error: expect.stringContaining('The workspace has 3 files') as string },
    });
    const other = (await ada!.createWorkspace()).id;
    expect(await put(ada!, other, 'a')).toMatchObject(FULL);
    // Whoever deletes it, it was in the share of its maker.
    await ben!.post(`/workspaces/${id}/tools`, { tool: 'rm', args: { path: '/a' } });
    expect((await put(ada!, other, 'a')).status).toBe(201);
  });

  it.each(['as it was', 'as an older version'])(
    'count a file for who brings it back %s [SHARE-2]',
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

  it('bound workspaces, members and memberships, and those that strangers give take nothing from one’s own [SHARE-3]', async () => {
    const [zoe, max, kim] = await Promise.all([server.register(), server.register(), server.register()]);
    const full = { status: 409, body: { code: 'CONFLICT' } };
    const made = [await zoe.createWorkspace(), await zoe.createWorkspace()];
    expect(await zoe.post('/workspaces', { name: 'third' })).toMatchObject(full);
    const add = (workspaceId: string, user: TestUser) =>
      zoe.post(`/workspaces/${workspaceId}/members`, { email: user.email, role: 'member' });
    expect((await add(made[0]!.id, max)).status).toBe(201);
    expect(await add(made[0]!.id, kim)).toMatchObject(full);
    expect(await add(made[1]!.id, max)).toMatchObject(full);
    for (const _ of [1, 2]) await max.createWorkspace();
    // What a stranger has filled takes nothing from whoever else adds the user.
    const other = await kim.createWorkspace();
    await kim.addMember(other.id, max);
    await max.request('DELETE', `/workspaces/${made[0]!.id}/members/${max.id}`);
    expect((await add(made[1]!.id, max)).status).toBe(201);
  });

  it('do not count for a user what they left behind in the workspaces of others [SHARE-2]', async () => {
    const [zoe, max] = await Promise.all([server.register(), server.register()]);
    const [theirs, own] = [await zoe.createWorkspace(), await max.createWorkspace()];
    await zoe.addMember(theirs.id, max);
    for (const path of ['a', 'b']) expect((await put(max, theirs.id, path)).status).toBe(201);
    expect(await put(max, own.id, 'c')).toMatchObject(FULL);
    await zoe.request('DELETE', `/workspaces/${theirs.id}/members/${max.id}`);
    expect((await put(max, own.id, 'c')).status).toBe(201);
  });

  it('count no workspace that its maker has left [SHARE-3]', async () => {
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

  it('count workspaces that are made at once [SHARE-3]', async () => {
    const zoe = await server.register();
    const made = await Promise.all(Array.from({ length: 5 }, () => zoe.post('/workspaces', { name: 'w' })));
    expect(made.map(({ status }) => status).sort()).toEqual([201, 201, 409, 409, 409]);
  });
});
