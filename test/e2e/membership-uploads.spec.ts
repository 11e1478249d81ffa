import type { FileCommitAnswer } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { storesOf } from '../contract/backends.js';
import { testFixture } from '../support/fixtures.js';
import { hold } from '../support/hold.js';
import { readTrail } from '../support/invariants.js';
import { MembershipFixture } from '../support/membership-fixture.js';
import { startTestServer } from '../support/server.js';

describe('a membership that ends during an upload [MEMBER-2]', () => {
  const server = testFixture(() => startTestServer());
  const setup = testFixture(() => MembershipFixture.on(server));
  const ada = testFixture(() => setup.ada);
  const ben = testFixture(() => setup.ben);

  const written = async (): Promise<string[]> => {
    const trail = await readTrail(ada, setup.workspaceId);
    return trail.filter(({ name }) => name.startsWith('File.')).map(({ fields }) => fields.sha256 as string);
  };

  it('discards the upload of a client', async () => {
    const client = await setup.client();
    const slow = hold(storesOf(server.app).files, 'at');
    const content = Buffer.from('late');
    const upload = { docPath: 'root/late', path: '/root/late', content, sha256: sha256('late') };
    const sent = client.send('files:put', { ...upload, baseSha256: null }).catch(() => ({ ok: 'no answer' }));
    await slow.reached;
    await setup.remove();
    slow.release();
    expect(await sent).not.toMatchObject({ ok: true });
    // What was under way has come to its end when the same store has done what came after it.
    const after = await ada.request('PUT', `${setup.base}/contents/after`, Buffer.from('after'));
    expect(after.status).toBe(201);
    expect((await ada.get(`${setup.base}/contents/root/late`)).status).toBe(404);
    expect(await written()).toEqual([sha256('after')]);
    client.close();
  });

  it('keeps the files of the committed batches of a large commit and discards the rest', async () => {
    const texts = ['first', 'second'];
    for (const text of texts)
      await ben.request('PUT', `${setup.base}/blobs/${sha256(text)}`, Buffer.from(text));
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
      if (!removed) await setup.remove();
      removed = true;
      return inserted;
    };
    const answer = await ben.post<FileCommitAnswer>(`${setup.base}/files/commit`, { files });
    Reflect.deleteProperty(store, 'insert');
    expect(removed).toBe(true);
    expect(answer.status).toBe(403);
    expect((await ada.get(`${setup.base}/contents/a`)).body).toBe('first');
    expect(await written()).toEqual([sha256('first')]);
  });
});
