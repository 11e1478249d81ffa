import { sha256 } from '@patchbay/protocol/hash';
import type { FakeClient } from '../support/fake-client.js';
import { readTrail } from '../support/invariants.js';
import { type RelayScene } from '../support/relay-scene.js';

import { appliedResult, DOC, patchCall, PatchDesk, TEXT } from '../support/patch-desk.js';

describe('workspace_write_patch', () => {
  const desk = new PatchDesk();
  const { write, put, carryOut, base } = desk;
  let scene: RelayScene;
  let client: FakeClient;
  beforeEach(async () => void ({ scene, client } = await desk.open()));
  afterEach(() => scene.close());

  it('can be looked up change by change, by the model itself', async () => {
    await scene.post([patchCall()]);
    const { batch } = await client.delivery();
    const { changeId } = batch!.files[0]!.changes[0]!;
    const look = { toolCallId: 'g', name: 'get_patch_change', arguments: { changeId: changeId! } };
    const { body } = await scene.post([look], { waitMs: 5_000 });
    expect(body.result.toolResults).toMatchObject([
      { status: 'succeeded', result: { docPath: DOC, change: { newLines: ['TWO'], outcome: null } } },
    ]);
    const unknown = { ...look, arguments: { changeId: 'chg-0007' } };
    const { body: missing } = await scene.post([unknown], { waitMs: 5_000 });
    expect(missing.result.toolResults).toMatchObject([{ status: 'failed', error: { code: 'NOT_FOUND' } }]);
  });

  it('is shown as a diff that was applied', async () => {
    await write('/repo/src/a.txt', TEXT);
    await scene.post([patchCall()]);
    const call = await client.delivery();
    await carryOut(call, { [DOC]: TEXT });
    const { status, headers, body } = await scene.user.get<string>(
      `${base()}/patches/${call.batch!.batchId}/diff`,
    );
    expect(status).toBe(200);
    expect(headers.get('content-type')).toContain('text/x-diff');
    expect(body).toContain('-two\n+TWO\n');
  });

  it('is undone by its inverse, which is relayed like any other [PATCH-7]', async () => {
    await write('/repo/src/a.txt', TEXT);
    await scene.post([patchCall()]);
    const call = await client.delivery();
    await carryOut(call, { [DOC]: TEXT });
    const { sessionId } = scene.session;
    const revert = scene.user.post(`${base()}/patches/${call.batch!.batchId}/revert`, {
      sessionId,
      waitMs: 5_000,
    });
    const inverse = await client.delivery(2);
    expect(inverse.batch!.batchLabel).toBe('Revert: Louder');
    await carryOut(inverse, { [DOC]: 'one\nTWO\nthree\n' });
    expect(await revert).toMatchObject({
      status: 200,
      body: { result: { toolResults: [{ status: 'succeeded' }] } },
    });
    const stored = await scene.user.get(`${base()}/patches/${inverse.batch!.batchId}`);
    expect(stored.body).toMatchObject({ revertOf: call.batch!.batchId });
    const read = { toolCallId: 'r', name: 'read', arguments: { path: '/repo/src/a.txt' } };
    const { body } = await scene.post([read], { waitMs: 5_000 });
    expect(body.result.toolResults).toMatchObject([{ result: { content: { text: TEXT } } }]);
  });

  it('is not undone where a file has moved on, unless the rest is asked for [PATCH-7]', async () => {
    const other = 'repo/b.txt';
    await write('/repo/src/a.txt', TEXT);
    await write('/repo/b.txt', TEXT);
    await scene.post([patchCall([{}, { docPath: other }])]);
    const call = await client.delivery();
    await carryOut(call, { [DOC]: TEXT, [other]: TEXT });
    await write('/repo/b.txt', 'moved on\n');
    const path = `${base()}/patches/${call.batch!.batchId}/revert`;
    const { sessionId } = scene.session;
    const refused = await scene.user.post(path, { sessionId, waitMs: 0 });
    expect(refused).toMatchObject({
      status: 412,
      body: { code: 'STALE', fields: { [other]: expect.stringContaining('moved on') as string } },
    });
    expect(client.calls).toHaveLength(1);
    const partial = await scene.user.post(path, { sessionId, waitMs: 0, allowPartial: true });
    expect(partial).toMatchObject({
      status: 202,
      body: {
        warnings: [
          {
            errorCode: 'LEFT_OUT',
            message: expect.stringContaining(`${other} is not undone: it has moved on`) as string,
            details: { docPath: other, currentSha256: sha256('moved on\n') },
          },
        ],
      },
    });
    expect((await client.delivery(2)).batch!.files.map(({ docPath }) => docPath)).toEqual([DOC]);
  });

  it('is undone byte for byte, or the result says that it is not [PATCH-7]', async () => {
    await write('/repo/src/a.txt', TEXT);
    await scene.post([patchCall()]);
    const call = await client.delivery();
    await carryOut(call, { [DOC]: TEXT });
    const revert = scene.user.post(`${base()}/patches/${call.batch!.batchId}/revert`, {
      sessionId: scene.session.sessionId,
      waitMs: 5_000,
    });
    const inverse = await client.delivery(2);
    const result = appliedResult(inverse.batch!, { [DOC]: 'one\nTWO\nthree\n' }, []);
    expect(result.files[0]!.newSha256).toBe(sha256(TEXT));
    const other = 'one\ntwo\nthree';
    const uploaded = await put(inverse, 0, other);
    if (!uploaded.ok) throw new Error(uploaded.error.message);
    const { versionId } = uploaded;
    result.files[0] = { ...result.files[0]!, newSha256: sha256(other), versionId };
    await client.report(inverse, { result });
    expect((await revert).body).toMatchObject({
      warnings: [{ errorCode: 'DIVERGED', message: expect.stringContaining('before the batch') as string }],
    });
    const trail = await readTrail(scene.user, scene.workspaceId, '&event=Tool.WritePatch.Diverged');
    expect(trail.map(({ fields }) => fields)).toMatchObject([
      { docPath: DOC, against: 'former', reportedSha256: sha256(other), otherSha256: sha256(TEXT) },
    ]);
  });

  it('has nothing to undo where nothing was applied', async () => {
    await scene.post([patchCall()]);
    const call = await client.delivery();
    const path = `${base()}/patches/${call.batch!.batchId}/revert`;
    const answer = await scene.user.post(path, { sessionId: scene.session.sessionId });
    expect(answer).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
  });

  it('answers 404 for what the workspace does not have', async () => {
    const id = '01a200ef-dbdf-7042-8e77-612ae8a639f0';
    for (const path of [`patches/${id}`, `changes/${id}`, `patches/${id}/diff`]) {
      expect((await scene.user.get(`${base()}/${path}`)).status).toBe(404);
    }
    expect((await scene.user.get(`${base()}/patches/nonsense`)).status).toBe(400);
  });
});
