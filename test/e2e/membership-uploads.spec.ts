import type { FileCommitAnswer } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { storesOf } from '../contract/backends.js';
import { FakeClient } from '../support/fake-client.js';
import { hold } from '../support/hold.js';
import { readTrail } from '../support/invariants.js';
import { startTestServer, type TestServer } from '../support/server.js';
import type { TestUser } from '../support/test-user.js';

describe('a membership that ends during an upload [MEMBER-2]', () => {
  let server: TestServer;
  let ada: TestUser;
  let ben: TestUser;
  let workspaceId: string;
  let base: string;
  beforeEach(async () => {
    server = await startTestServer();
    [ada, ben] = await Promise.all([server.register(), server.register()]);
    workspaceId = (await ada.createWorkspace()).id;
    base = `/workspaces/${workspaceId}`;
    await ada.addMember(workspaceId, ben);
  });
  afterEach(() => server.close());

  const remove = async (): Promise<void> => {
    expect((await ada.request('DELETE', `${base}/members/${ben.id}`)).status).toBe(204);
  };
  const written = async (): Promise<string[]> => {
    const trail = await readTrail(ada, workspaceId);
    return trail.filter(({ name }) => name.startsWith('File.')).map(({ fields }) => fields.sha256 as string);
  };

  it('of a client keeps nothing of it', async () => {
    const client = await FakeClient.ready({ url: server.url, token: ben.token, workspaceId });
    const slow = hold(storesOf(server.app).files, 'at');
    const content = Buffer.from('late');
    const upload = { docPath: 'root/late', path: '/root/late', content, sha256: sha256('late') };
    const sent = client.send('files:put', { ...upload, baseSha256: null }).catch(() => ({ ok: 'no answer' }));
    await slow.reached;
    await remove();
    slow.release();
    expect(await sent).not.toMatchObject({ ok: true });
    // What was under way has come to its end when the same store has done what came after it.
    const after = await ada.request('PUT', `${base}/contents/after`, Buffer.from('after'));
    expect(after.status).toBe(201);
    expect((await ada.get(`${base}/contents/root/late`)).status).toBe(404);
    expect(await written()).toEqual([sha256('after')]);
    client.close();
  });

  it('of many files keeps those of the waves before, and none of the next', async () => {
    const texts = ['first', 'second'];
    for (const text of texts) await ben.request('PUT', `${base}/blobs/${sha256(text)}`, Buffer.from(text));
    // Two changes of one path are never made at once: the second is read again for a wave of its own.
    const files = [
      { path: '/a', sha256: sha256('first'), baseSha256: null },
      { path: '/a', sha256: sha256('second'), baseSha256: sha256('first') },
    ];
    const { files: store } = storesOf(server.app);
    const commit = store.insert.bind(store);
    let removed = false;
    store.insert = async (...given) => {
      const inserted = await commit(...given);
      if (!removed) await remove();
      removed = true;
      return inserted;
    };
    const answer = await ben.post<FileCommitAnswer>(`${base}/files/commit`, { files });
    Reflect.deleteProperty(store, 'insert');
    expect(removed).toBe(true);
    expect(answer.status).toBe(403);
    expect((await ada.get(`${base}/contents/a`)).body).toBe('first');
    expect(await written()).toEqual([sha256('first')]);
  });
});
