import { jest } from '@jest/globals';
import { sha256 } from '@patchbay/protocol/hash';
import { newId } from '../../src/common/ids.js';
import { storesOf } from '../contract/backends.js';
import { aRoot, type FakeClient } from '../support/fake-client.js';
import { suiteFixture, testFixture } from '../support/fixtures.js';
import { RelayFixture } from '../support/relay-fixture.js';
import { startTestServer } from '../support/server.js';
import { waitFor } from '../support/wait-for.js';

describe('files:changed', () => {
  const server = suiteFixture(() => startTestServer());
  const user = suiteFixture(() => server.register());
  afterEach(() => jest.restoreAllMocks());
  const fixture = testFixture(() => RelayFixture.on(server, user));
  const [proj, other] = [aRoot('Proj'), aRoot('other')];
  let client: FakeClient;
  beforeEach(async () => {
    client = await fixture.client({ clientId: 'one', roots: [proj] });
  });

  const base = () => `/workspaces/${fixture.workspaceId}`;
  const tool = async (name: string, args: object): Promise<void> => {
    const { body } = await user.post<{ success: boolean }>(`${base()}/tools`, { tool: name, args });
    expect(body.success).toBe(true);
  };
  const write = (path: string, text: string) => tool('write', { path, content: { text } });
  const upload = async (from: FakeClient, path: string, text: string): Promise<void> => {
    const file = {
      docPath: path.slice(1).toLowerCase(),
      path,
      content: Buffer.from(text),
      sha256: sha256(text),
    };
    const put = { ...file, baseSha256: null };
    expect(await from.socket.timeout(5_000).emitWithAck('files:put', put)).toMatchObject({ ok: true });
  };
  /** What a client has been told of each path last, by docPath. */
  const noticesOf = ({ changed }: FakeClient): Record<string, string | null> =>
    Object.fromEntries(
      changed.flatMap(({ files }) => files).map(({ docPath, sha256: sha }) => [docPath, sha]),
    );
  /** Until a change that is made last has arrived, and with it whatever was to come before it. */
  async function all(of = client): Promise<Record<string, string | null>> {
    await write('/Proj/last', 'last');
    await waitFor(() => 'proj/last' in noticesOf(of), 'the last change');
    const { 'proj/last': _last, ...rest } = noticesOf(of);
    return rest;
  }

  it('reports files that were written, moved, deleted and restored below a folder [RELAY-21]', async () => {
    await write('/Proj/A.txt', 'a');
    await write('/Proj/b.txt', 'b');
    await write('/other/c.txt', 'c');
    await write('/proj.txt', 'beside');
    expect(await all()).toEqual({ 'proj/a.txt': sha256('a'), 'proj/b.txt': sha256('b') });
    expect(client.changed.flatMap(({ files }) => files)).toContainEqual({
      ...{ path: '/Proj/A.txt', docPath: 'proj/a.txt', sha256: sha256('a') },
    });
    const { body } = await user.get<{ files: { fileId: string; docPath: string }[] }>(`${base()}/files`);
    const { fileId } = body.files.find(({ docPath }) => docPath === 'proj/a.txt')!;
    client.changed.length = 0;
    await tool('mv', { from: '/Proj/b.txt', to: '/Proj/d/b.txt' });
    await tool('mv', { from: '/other/c.txt', to: '/Proj/c.txt' });
    await tool('rm', { path: '/Proj/A.txt' });
    expect(await all()).toEqual({
      ...{ 'proj/a.txt': null, 'proj/b.txt': null },
      ...{ 'proj/d/b.txt': sha256('b'), 'proj/c.txt': sha256('c') },
    });
    client.changed.length = 0;
    expect((await user.post(`${base()}/files/${fileId}/restore`, {})).status).toBe(200);
    expect(await all()).toEqual({ 'proj/a.txt': sha256('a') });
  });

  it('reports changes over HTTP by any member, and an upload of a client to all other clients [RELAY-21]', async () => {
    const bob = await server.register();
    await user.addMember(fixture.workspaceId, bob);
    const bobs = await fixture.client({ clientId: 'one', token: bob.token, roots: [proj, other] });
    await user.request('PUT', `${base()}/contents/Proj/put.txt`, 'put');
    await upload(client, '/Proj/mine.txt', 'mine');
    await upload(bobs, '/Proj/bobs.txt', 'bobs');
    expect(await all()).toEqual({ 'proj/put.txt': sha256('put'), 'proj/bobs.txt': sha256('bobs') });
    await waitFor(() => 'proj/last' in noticesOf(bobs), 'the last change');
    expect(noticesOf(bobs)).toMatchObject({ 'proj/put.txt': sha256('put'), 'proj/mine.txt': sha256('mine') });
    expect(noticesOf(bobs)).not.toHaveProperty(['proj/bobs.txt']);
  });

  it('names at most a hundred files and says that there are more [RELAY-21]', async () => {
    const names = Array.from({ length: 250 }, (_, at) => `/Proj/many/${at}.txt`);
    await user.request('PUT', `${base()}/blobs/${sha256('x')}`, 'x');
    const files = names.map((path) => ({ path, sha256: sha256('x'), baseSha256: null }));
    const rootless = await fixture.client({ clientId: 'none' });
    expect((await user.post(`${base()}/files/commit`, { files })).status).toBe(200);
    const all250 = () => Object.keys(noticesOf(client)).length === 250;
    await waitFor(() => all250() || client.changed.some(({ more }) => more), 'word of all files');
    expect(client.changed.every(({ files: { length } }) => length > 0 && length <= 100)).toBe(true);
    expect(rootless.changed).toEqual([]);
  });

  it('does not report a write that lost a race to another process', async () => {
    const [ours, theirs] = ['ours', 'theirs'].map((text) => ({ text, sha256: sha256(text) }));
    await user.request('PUT', `${base()}/blobs/${ours!.sha256}`, Buffer.from(ours!.text));
    const { files } = storesOf(server.app);
    jest.spyOn(files, 'insert').mockImplementationOnce(async (file, bytes, events) => {
      const head = { ...file.head, id: newId(), sha256: theirs!.sha256, sizeBytes: theirs!.text.length };
      await files.insert({ ...file, id: newId(), head }, Buffer.from(theirs!.text), []);
      return files.insert(file, bytes, events);
    });
    const change = { path: '/Proj/raced.txt', sha256: ours!.sha256, baseSha256: null };
    const { body } = await user.post(`${base()}/files/commit`, { files: [change] });
    expect(body).toMatchObject({ files: [{ error: { code: 'STALE', currentSha256: theirs!.sha256 } }] });
    expect(await all()).toEqual({});
  });

  it('does not report changes that were rejected or kept beside the head', async () => {
    await write('/Proj/a.txt', 'a');
    await all();
    client.changed.length = 0;
    const stale = {
      docPath: 'proj/a.txt',
      path: '/Proj/a.txt',
      content: Buffer.from('b'),
      sha256: sha256('b'),
    };
    const another = await fixture.client({ clientId: 'two', roots: [proj] });
    expect(await another.send('files:put', { ...stale, baseSha256: sha256('c') })).toMatchObject({
      ok: false,
    });
    expect(await all()).toEqual({});
  });
});
