import { sha256 } from '@patchbay/protocol/hash';
import { aRoot } from '../support/fake-client.js';
import { testFixture } from '../support/fixtures.js';
import { patchCall, PatchFixture, replaceTwo, TEXT } from '../support/patch-fixture.js';
import { oneServer } from '../support/server.js';
import { waitFor } from '../support/wait-for.js';

const PATH = '/repo/src/a.txt';

describe('A patch of a file whose folder is connected', () => {
  const setup = new PatchFixture(oneServer());
  const { write, put } = setup;
  const fixture = testFixture(() => setup.open());
  const holder = testFixture(() =>
    fixture.client({ clientId: 'a', tools: ['workspace_write_patch'], roots: [aRoot('Repo')] }),
  );
  beforeEach(() => write(PATH, 'the Cloud is behind\n'));

  const ended = async () => (await fixture.post([patchCall()], { waitMs: 500 })).body.result.toolResults;

  it('is accepted with a sha256 that is not that of the Cloud, for the client to check [PATCH-10]', async () => {
    expect(await ended()).toEqual([]);
    expect((await holder.delivery()).batch!.files).toMatchObject([{ originalSha256: sha256(TEXT) }]);
  });

  it('is checked by its lines where the sha256 is that of the Cloud [PATCH-2] [PATCH-10]', async () => {
    await write(PATH, TEXT);
    const wrong = patchCall([{ changes: [replaceTwo({ expectedOriginalLines: ['zwei'] })] }]);
    const { body } = await fixture.post([wrong], { waitMs: 500 });
    expect(body.result.toolResults).toMatchObject([{ error: { code: 'LINES_MISMATCH' } }]);
  });

  it('is checked against the Cloud once its client has left [PATCH-2] [PATCH-10]', async () => {
    holder.close();
    const roots = `/workspaces/${fixture.workspaceId}/roots`;
    const isAway = async () =>
      !(await fixture.user.get<{ roots: { connected: boolean }[] }>(roots)).body.roots[0]!.connected;
    await waitFor(isAway, 'the end of its presence');
    expect(await ended()).toMatchObject([{ error: { code: 'STALE' } }]);
  });

  it('is checked against the Cloud where another member’s client has the folder', async () => {
    holder.close();
    const bob = await fixture.server.register();
    await fixture.user.addMember(fixture.workspaceId, bob);
    await fixture.client({ clientId: 'a', roots: [aRoot('other')] });
    const { rootId } = (
      await bob.get<{ roots: { docPath: string; rootId: string }[] }>(
        `/workspaces/${fixture.workspaceId}/roots`,
      )
    ).body.roots.find(({ docPath }) => docPath === 'repo')!;
    await fixture.client({ clientId: 'bobs', token: bob.token, roots: [aRoot('repo', rootId)] });
    expect(await ended()).toMatchObject([{ error: { code: 'STALE' } }]);
  });

  it.each([
    ['what the patch was planned on', TEXT, 'whatever'],
    ['what the client names', 'in common\n', 'in common\n'],
  ])('is uploaded on %s [FILE-5]', async (_, head, named) => {
    await fixture.post([patchCall()]);
    const call = await holder.delivery();
    await write(PATH, head);
    const answer = await put(call, 0, 'one\nTWO\nthree\n', { baseSha256: sha256(named) });
    expect(answer).toMatchObject({ ok: true });
  });

  it.each([
    ['what another has made of the Cloud file', 'by another\n'],
    ['a Cloud text that the folder does not have', 'the Cloud is behind\n'],
  ])('stays beside %s [FILE-5] [PATCH-12]', async (_, head) => {
    await fixture.post([patchCall()]);
    const call = await holder.delivery();
    await write(PATH, head);
    for (const baseSha256 of [sha256(TEXT), null]) {
      const answer = await put(call, 0, 'one\nTWO\nthree\n', { baseSha256 });
      expect(answer).toMatchObject({ ok: false, error: { code: 'STALE' } });
    }
  });
});
