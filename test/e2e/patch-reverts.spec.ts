import type { WritePatchResult } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { testFixture } from '../support/fixtures.js';
import { readTrail } from '../support/invariants.js';
import { appliedResult, DOC, patchCall, PatchFixture, replaceTwo, TEXT } from '../support/patch-fixture.js';
import { oneServer } from '../support/server.js';

describe('workspace_write_patch', () => {
  const setup = new PatchFixture(oneServer());
  const { write, put, carryOut, base } = setup;
  const fixture = testFixture(() => setup.open());
  const client = testFixture(() => setup.client);

  it('can be read change by change by the model', async () => {
    await fixture.post([patchCall()]);
    const { batch } = await client.delivery();
    const { changeId } = batch!.files[0]!.changes[0]!;
    const look = { toolCallId: 'g', name: 'get_patch_change', arguments: { changeId: changeId! } };
    const { body } = await fixture.post([look], { waitMs: 20_000 });
    expect(body.result.toolResults).toMatchObject([
      { status: 'succeeded', result: { docPath: DOC, change: { newLines: ['TWO'], outcome: null } } },
    ]);
    const unknown = { ...look, arguments: { changeId: 'chg-0007' } };
    const { body: missing } = await fixture.post([unknown], { waitMs: 20_000 });
    expect(missing.result.toolResults).toMatchObject([{ status: 'failed', error: { code: 'NOT_FOUND' } }]);
  });

  it('is shown as a diff that was applied', async () => {
    await write('/repo/src/a.txt', TEXT);
    await fixture.post([patchCall()]);
    const call = await client.delivery();
    await carryOut(call, { [DOC]: TEXT });
    const { status, headers, body } = await fixture.user.get<string>(
      `${base()}/patches/${call.batch!.batchId}/diff`,
    );
    expect(status).toBe(200);
    expect(headers.get('content-type')).toContain('text/x-diff');
    expect(body).toContain('-two\n+TWO\n');
  });

  it('is undone by its inverse, which is relayed like any patch and has its own event [PATCH-7] [AUDIT-8]', async () => {
    await write('/repo/src/a.txt', TEXT);
    await fixture.post([patchCall()]);
    const call = await client.delivery();
    await carryOut(call, { [DOC]: TEXT });
    const { sessionId } = fixture.session;
    const revert = fixture.user.post(`${base()}/patches/${call.batch!.batchId}/revert`, {
      sessionId,
      waitMs: 20_000,
    });
    const inverse = await client.delivery(2);
    expect(inverse.batch!.batchLabel).toBe('Revert: Louder');
    await carryOut(inverse, { [DOC]: 'one\nTWO\nthree\n' });
    expect(await revert).toMatchObject({
      status: 200,
      body: { result: { toolResults: [{ status: 'succeeded' }] } },
    });
    const reverted = await readTrail(fixture.user, fixture.workspaceId, '&event=Tool.WritePatch.Reverted');
    expect(reverted).toMatchObject([
      {
        callId: inverse.callId,
        actor: { userId: fixture.user.id },
        fields: {
          batchId: call.batch!.batchId,
          revertBatchId: inverse.batch!.batchId,
          paths: [DOC],
        },
      },
    ]);
    const steps = await readTrail(fixture.user, fixture.workspaceId, `&callId=${inverse.callId}`);
    expect(steps[0]!.fields).toMatchObject({
      batchId: inverse.batch!.batchId,
      revertOf: call.batch!.batchId,
    });
    const stored = await fixture.user.get(`${base()}/patches/${inverse.batch!.batchId}`);
    expect(stored.body).toMatchObject({ revertOf: call.batch!.batchId });
    const read = { toolCallId: 'r', name: 'read', arguments: { path: '/repo/src/a.txt' } };
    const { body } = await fixture.post([read], { waitMs: 20_000 });
    expect(body.result.toolResults).toMatchObject([{ result: { content: { text: TEXT } } }]);
  });

  it('is not undone where a file has changed since, unless the other files are requested [PATCH-7]', async () => {
    const other = 'repo/b.txt';
    await write('/repo/src/a.txt', TEXT);
    await write('/repo/b.txt', TEXT);
    await fixture.post([patchCall([{}, { docPath: other }])]);
    const call = await client.delivery();
    await carryOut(call, { [DOC]: TEXT, [other]: TEXT });
    await write('/repo/b.txt', 'moved on\n');
    const path = `${base()}/patches/${call.batch!.batchId}/revert`;
    const { sessionId } = fixture.session;
    const refused = await fixture.user.post(path, { sessionId, waitMs: 0 });
    expect(refused).toMatchObject({
      status: 412,
      body: { code: 'STALE', fields: { [other]: expect.stringContaining('has changed since') as string } },
    });
    expect(client.calls).toHaveLength(1);
    const partial = await fixture.user.post(path, { sessionId, waitMs: 0, allowPartial: true });
    expect(partial).toMatchObject({
      status: 202,
      body: {
        warnings: [
          {
            errorCode: 'LEFT_OUT',
            message: expect.stringContaining(`${other} is not undone: it has changed`) as string,
            details: { docPath: other, currentSha256: sha256('moved on\n') },
          },
        ],
      },
    });
    expect((await client.delivery(2)).batch!.files.map(({ docPath }) => docPath)).toEqual([DOC]);
  });

  it('is undone byte for byte, or the result says that it is not [PATCH-7]', async () => {
    await write('/repo/src/a.txt', TEXT);
    await fixture.post([patchCall()]);
    const call = await client.delivery();
    await carryOut(call, { [DOC]: TEXT });
    const revert = fixture.user.post(`${base()}/patches/${call.batch!.batchId}/revert`, {
      sessionId: fixture.session.sessionId,
      waitMs: 20_000,
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
    const trail = await readTrail(fixture.user, fixture.workspaceId, '&event=Tool.WritePatch.Diverged');
    expect(trail.map(({ fields }) => fields)).toMatchObject([
      { docPath: DOC, against: 'former', reportedSha256: sha256(other), otherSha256: sha256(TEXT) },
    ]);
  });

  /** Has a patch of the text of these files carried out; `report` changes what the client says of it. */
  async function carriedOut(
    files: Parameters<typeof patchCall>[0] = [{}],
    report: (result: WritePatchResult) => object = () => ({}),
  ): Promise<string> {
    const docPaths = files.map(({ docPath = DOC }) => docPath);
    for (const docPath of docPaths) await write(`/${docPath}`, TEXT);
    await fixture.post([patchCall(files)]);
    const call = await client.delivery();
    const texts = Object.fromEntries(docPaths.map((docPath) => [docPath, TEXT]));
    const result = appliedResult(call.batch!, texts, []);
    const more = report(result);
    expect(await client.report(call, { result, ...more })).toEqual({ ok: true });
    return call.batch!.batchId!;
  }
  const revert = (batchId: string, more: object = {}) =>
    fixture.user.post(`${base()}/patches/${batchId}/revert`, {
      ...{ sessionId: fixture.session.sessionId, waitMs: 0, ...more },
    });

  it('is undone where the Cloud no longer has the file', async () => {
    const batchId = await carriedOut();
    await fixture.user.post(`${base()}/tools`, { tool: 'rm', args: { path: `/${DOC}` } });
    expect((await revert(batchId)).status).toBe(202);
    expect((await client.delivery(2)).batch!.files).toMatchObject([{ docPath: DOC }]);
  });

  it('is not undone where all of its files have changed since, with any option', async () => {
    const batchId = await carriedOut();
    await write(`/${DOC}`, 'moved on\n');
    expect(await revert(batchId, { allowPartial: true })).toMatchObject({
      status: 412,
      body: { code: 'STALE' },
    });
    expect(client.calls).toHaveLength(1);
  });

  it('is undone in the files that were applied', async () => {
    const batchId = await carriedOut([{ docPath: 'p/a' }, { docPath: 'p/b' }], (result) => {
      const [, second] = result.files;
      Object.assign(second!, { status: 'skipped', newSha256: null });
      for (const change of second!.changes) change.status = 'skipped';
      return {};
    });
    // What the client says of the first is there, as it would be after an upload.
    await write('/p/a', 'one\nTWO\nthree\n');
    expect((await revert(batchId)).status).toBe(202);
    expect((await client.delivery(2)).batch!.files).toMatchObject([{ docPath: 'p/a' }]);
  });

  it('is undone as a person has edited it', async () => {
    const edited = 'one\n2\nthree\n';
    const batchId = await carriedOut([{}], (result) => {
      result.files[0]!.newSha256 = sha256(edited);
      const editedArguments = patchCall([{ changes: [replaceTwo({ newLines: ['2'] })] }]).arguments;
      return { approval: { decision: 'edit', by: 'ada', at: '2025-06-01T12:00:00Z', editedArguments } };
    });
    await write(`/${DOC}`, edited);
    expect((await revert(batchId)).status).toBe(202);
    expect((await client.delivery(2)).batch!.files).toMatchObject([
      { changes: [{ expectedOriginalLines: ['2'], newLines: ['two'] }] },
    ]);
  });

  it('is undone in part when a person rejects the rest, which is no divergence [PATCH-7]', async () => {
    const last = replaceTwo({ startLine: 3, endLine: 3, expectedOriginalLines: ['three'], newLines: ['3'] });
    const first = replaceTwo({ startLine: 1, endLine: 1, expectedOriginalLines: ['one'], newLines: ['1'] });
    const batchId = await carriedOut([{ changes: [first, last] }]);
    await write(`/${DOC}`, '1\ntwo\n3\n');
    await revert(batchId);
    const inverse = await client.delivery(2);
    const [file] = inverse.batch!.files;
    expect(file!.changes).toHaveLength(2);
    const part = 'one\ntwo\n3\n';
    const result = appliedResult(inverse.batch!, { [DOC]: '1\ntwo\n3\n' }, []);
    result.files[0]!.newSha256 = sha256(part);
    result.files[0]!.changes[1]!.status = 'rejected';
    const rejectedChangeIds = [file!.changes[1]!.changeId!];
    const approval = { decision: 'allow', by: 'ada', at: '2025-06-01T12:00:00Z', rejectedChangeIds };
    expect(await client.report(inverse, { result, approval })).toEqual({ ok: true });
    expect(await readTrail(fixture.user, fixture.workspaceId, '&event=Tool.WritePatch.Diverged')).toEqual([]);
  });

  it('may name line endings only in a batch that the server has made', async () => {
    const changes = [replaceTwo({ newEndings: ['\r\n'] })];
    await write(`/${DOC}`, TEXT);
    const { body } = await fixture.post([patchCall([{ changes }])]);
    expect(body.result.toolResults).toMatchObject([{ error: { code: 'INVALID_ARGUMENTS' } }]);
  });

  it('has the outcome of its own call', async () => {
    await write(`/${DOC}`, TEXT);
    const read = { toolCallId: 'before', name: 'read', arguments: { path: `/${DOC}` } };
    await fixture.post([read, patchCall()]);
    const { batch } = await client.delivery();
    const { body } = await fixture.user.get(`${base()}/patches/${batch!.batchId}`);
    expect(body).toMatchObject({
      toolCallId: 'p1',
      status: expect.not.stringContaining('succeeded') as string,
    });
  });

  it('cannot be undone where nothing was applied', async () => {
    await fixture.post([patchCall()]);
    const call = await client.delivery();
    const path = `${base()}/patches/${call.batch!.batchId}/revert`;
    const answer = await fixture.user.post(path, { sessionId: fixture.session.sessionId });
    expect(answer).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
  });

  it('is a 404 for an unknown batch', async () => {
    const id = '01a200ef-dbdf-7042-8e77-612ae8a639f0';
    for (const path of [`patches/${id}`, `changes/${id}`, `patches/${id}/diff`]) {
      expect((await fixture.user.get(`${base()}/${path}`)).status).toBe(404);
    }
    expect((await fixture.user.get(`${base()}/patches/nonsense`)).status).toBe(400);
  });
});
