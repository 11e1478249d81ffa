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

  it('creates the new Cloud version from the call, with ids and keys throughout [PATCH-3]', async () => {
    await write('/Repo/src/A.txt', TEXT);
    const posted = fixture.post([patchCall()], { waitMs: 20_000 });
    const call = await client.delivery();
    expect(call.batch).toMatchObject({ batchKey: 'louder', files: [{ docPath: DOC, fileKey: 'file-0' }] });
    const result = await carryOut(call, { [DOC]: TEXT });
    const { body } = await posted;
    expect(body.warnings).toEqual([]);
    expect(body.result.toolResults).toMatchObject([{ status: 'succeeded', result }]);

    const read = { toolCallId: 'r', name: 'read', arguments: { path: '/Repo/src/A.txt' } };
    const { body: after } = await fixture.post([read], { waitMs: 20_000 });
    expect(after.result.toolResults).toMatchObject([{ result: { content: { text: 'one\nTWO\nthree\n' } } }]);

    const { batchId, files } = call.batch!;
    const stored = await fixture.user.get(`${base()}/patches/${batchId}`);
    expect(stored).toMatchObject({
      status: 200,
      body: {
        batchId,
        status: 'succeeded',
        userId: fixture.user.id,
        files: [
          {
            outcome: { status: 'applied', newSha256: sha256('one\nTWO\nthree\n') },
            changes: [{ outcome: { status: 'applied' } }],
          },
        ],
      },
    });
    const change = await fixture.user.get(`${base()}/changes/${files[0]!.changes[0]!.changeId}`);
    expect(change.body).toMatchObject({
      batchId,
      docPath: DOC,
      change: { changeKey: 'two', description: 'Say it louder' },
    });
  });

  it('is sent before the calls after it, although it takes longer to prepare', async () => {
    const create = { name: 'workspace_create_file', arguments: { path: 'x.txt', content: 'x' } };
    await fixture.post([patchCall(), { toolCallId: 'c2', ...create }, { toolCallId: 'c3', ...create }]);
    await client.delivery(3);
    expect(client.calls.map(({ toolCallId }) => toolCallId)).toEqual(['p1', 'c2', 'c3']);
  });

  it('records the batch, its files and the number of changes in the trail', async () => {
    await fixture.post([patchCall([{}, { docPath: 'repo/b.txt' }])]);
    const { batch } = await client.delivery();
    const trail = await readTrail(fixture.user, fixture.workspaceId, '&event=Tool.WritePatch.Forwarded');
    expect(trail.map(({ fields }) => fields)).toEqual([
      {
        ...{ toolName: 'workspace_write_patch', batchId: batch!.batchId, files: 2, changes: 2 },
        paths: [DOC, 'repo/b.txt'],
      },
    ]);
  });

  it('can be queried in the trail by its batch: the steps of its call and its files [AUDIT-4]', async () => {
    await write('/repo/src/a.txt', TEXT);
    await fixture.post([patchCall(), { ...patchCall([{ docPath: 'repo/other.txt' }]), toolCallId: 'p2' }]);
    const call = (await client.delivery(), client.calls[0]!);
    await carryOut(call, { [DOC]: TEXT });
    const { batchId } = call.batch!;
    const events = await readTrail(fixture.user, fixture.workspaceId, `&batchId=${batchId}`);
    const all = await readTrail(fixture.user, fixture.workspaceId);
    expect(events).toEqual(all.filter(({ callId }) => callId === call.callId));
    expect(events.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['Tool.WritePatch.Accepted', 'File.Updated', 'Tool.WritePatch.ResultReceived']),
    );
    const other = client.calls[1]?.callId ?? (await client.delivery(2)).callId;
    expect(await readTrail(fixture.user, fixture.workspaceId, `&batchId=${batchId}&callId=${other}`)).toEqual(
      [],
    );
  });

  it('reports every fault of a batch at once, with nothing stored or sent [PATCH-1]', async () => {
    const changes = [replaceTwo({ startLine: 3 }), { operation: 'erase' }, replaceTwo({ newLines: [] })];
    const { body } = await fixture.post([patchCall([{ sha: 'beef', changes }, { docPath: 'Repo/B.txt' }])]);
    const error = body.result.toolResults[0]!.error!;
    const { faults } = error.details as { faults: { code: string }[] };
    expect(error.code).toBe('INVALID_ARGUMENTS');
    const codes = faults.map(({ code }) => code);
    expect(codes).toEqual(
      expect.arrayContaining([
        'INVALID_SHA256',
        'RANGE_INVALID',
        'UNKNOWN_OPERATION',
        'EMPTY_NEW_LINES',
        'INVALID_DOC_PATH',
      ]),
    );
    expect(client.calls).toEqual([]);
  });

  it('fails at once where the Cloud file has changed, with the current sha256 [PATCH-2]', async () => {
    await write('/repo/src/a.txt', TEXT + 'four\n');
    const { body } = await fixture.post([patchCall()]);
    expect(body.result.toolResults).toMatchObject([
      {
        status: 'failed',
        error: {
          code: 'STALE',
          details: { faults: [{ code: 'STALE', currentSha256: sha256(TEXT + 'four\n') }] },
        },
      },
    ]);
    expect(JSON.stringify(body)).toContain('All expected lines are unchanged');
  });

  it('fails at once where the lines differ from the file, with the current lines [PATCH-2]', async () => {
    await write('/repo/src/a.txt', TEXT);
    const changes = [replaceTwo({ expectedOriginalLines: ['three'] })];
    const { body } = await fixture.post([patchCall([{ changes }])]);
    expect(body.result.toolResults).toMatchObject([
      {
        error: {
          code: 'LINES_MISMATCH',
          details: { faults: [{ actualLines: [{ line: 2, text: 'two' }], foundAt: 3 }] },
        },
      },
    ]);
  });

  it('rejects a result that does not match the batch [PATCH-4]', async () => {
    await fixture.post([patchCall()]);
    const call = await client.delivery();
    const result = appliedResult(call.batch!, { [DOC]: TEXT }, []);
    result.files[0]!.changes[0]!.changeId = 'chg-0007';
    expect(await client.report(call, { result })).toMatchObject({
      ok: false,
      error: { code: 'VALIDATION_ERROR' },
    });
  });

  it('warns and records when the reported file is not the result of the patch [PATCH-5]', async () => {
    await write('/repo/src/a.txt', TEXT);
    const posted = fixture.post([patchCall()], { waitMs: 20_000 });
    const call = await client.delivery();
    const result = appliedResult(call.batch!, { [DOC]: TEXT }, []);
    result.files[0]!.newSha256 = sha256('something else');
    await client.report(call, { result });
    const { body } = await posted;
    expect(body.warnings).toMatchObject([
      { errorCode: 'DIVERGED', details: { toolCallId: 'p1' } },
      { errorCode: 'NOT_UPLOADED' },
    ]);
    const trail = await readTrail(fixture.user, fixture.workspaceId, '&event=Tool.WritePatch.Diverged');
    expect(trail).toMatchObject([{ fields: { docPath: DOC, against: 'own_application' } }]);
  });

  it('warns and records when the reported file is not the uploaded one [PATCH-5]', async () => {
    const posted = fixture.post([patchCall()], { waitMs: 20_000 });
    const call = await client.delivery();
    const uploaded = await put(call, 0, 'something else\n', { baseSha256: null });
    if (!uploaded.ok) throw new Error(uploaded.error.message);
    const result = appliedResult(call.batch!, { [DOC]: TEXT }, [uploaded.versionId]);
    expect(await client.report(call, { result })).toEqual({ ok: true });
    const { body } = await posted;
    expect(body.result.toolResults).toMatchObject([{ status: 'succeeded' }]);
    expect(body.warnings).toMatchObject([{ errorCode: 'DIVERGED' }]);
    const trail = await readTrail(fixture.user, fixture.workspaceId, '&event=Tool.WritePatch.Diverged');
    expect(trail).toMatchObject([{ fields: { docPath: DOC, against: 'upload' } }]);
  });

  it('accepts ids and outcomes only; the server adds the fields of the batch [PATCH-14]', async () => {
    await write('/repo/src/a.txt', TEXT);
    const posted = fixture.post([patchCall()], { waitMs: 20_000 });
    const call = await client.delivery();
    const uploaded = await put(call, 0, 'one\nTWO\nthree\n');
    if (!uploaded.ok) throw new Error(uploaded.error.message);
    const whole = appliedResult(call.batch!, { [DOC]: TEXT }, [uploaded.versionId]);
    const { filePatchId, newSha256, versionId, changes } = whole.files[0]!;
    const short = {
      ...{ success: true, batchId: whole.batchId },
      files: [
        {
          ...{ filePatchId, newSha256, versionId, status: 'applied' },
          changes: changes.map(({ changeId }) => ({ changeId, status: 'applied' })),
        },
      ],
    };
    expect(await client.report(call, { result: short })).toEqual({ ok: true });
    // The same said in full is the same report.
    expect(await client.report(call, { result: whole })).toEqual({ ok: true, duplicate: true });
    expect((await posted).body).toMatchObject({ warnings: [], result: { toolResults: [{ result: whole }] } });
  });

  it('reports what only the client could see, in the result and in the batch [PATCH-14]', async () => {
    const posted = fixture.post([patchCall()], { waitMs: 20_000 });
    const call = await client.delivery();
    const { batchId, files } = call.batch!;
    const details = { actualLines: [{ line: 2, text: 'Two' }], hint: 'They differ by case.', foundAt: 7 };
    const failed = { status: 'failed', errorCode: 'LINES_MISMATCH', message: 'Line 2 is "Two".', details };
    const { filePatchId, changes } = files[0]!;
    const result = {
      ...{ success: false, batchId },
      files: [
        {
          ...{ filePatchId, status: 'conflict', errorCode: 'LINES_MISMATCH', message: 'Line 2 is "Two".' },
          changes: [{ changeId: changes[0]!.changeId, ...failed }],
        },
      ],
    };
    expect(await client.report(call, { result })).toEqual({ ok: true });
    const { body } = await posted;
    expect(body.result.toolResults).toMatchObject([
      { error: { code: 'LINES_MISMATCH' }, result: { files: [{ changes: [{ details }] }] } },
    ]);
    const stored = await fixture.user.get(`${base()}/patches/${batchId}`);
    expect(stored.body).toMatchObject({ files: [{ changes: [{ outcome: failed }] }] });
    const change = await fixture.user.get(`${base()}/changes/${changes[0]!.changeId}`);
    expect(change.body).toMatchObject({ change: { outcome: failed } });
  });

  it('warns and records when it was applied and its bytes were not uploaded [PATCH-15]', async () => {
    await write('/repo/src/a.txt', TEXT);
    const posted = fixture.post([patchCall()], { waitMs: 20_000 });
    const call = await client.delivery();
    const result = appliedResult(call.batch!, { [DOC]: TEXT }, []);
    expect(await client.report(call, { result })).toEqual({ ok: true });
    const { body } = await posted;
    expect(body.result.toolResults).toMatchObject([{ status: 'succeeded' }]);
    expect(body.warnings).toMatchObject([
      { errorCode: 'NOT_UPLOADED', message: expect.stringContaining(DOC) as string },
    ]);
    const trail = await readTrail(fixture.user, fixture.workspaceId, '&event=Tool.WritePatch.NotUploaded');
    const { filePatchId, newSha256: reportedSha256 } = result.files[0]!;
    expect(trail).toMatchObject([
      { callId: call.callId, fields: { filePatchId, docPath: DOC, reportedSha256 } },
    ]);
  });

  it('does not warn when its bytes were uploaded another way [PATCH-15]', async () => {
    await write('/repo/src/a.txt', TEXT);
    const posted = fixture.post([patchCall()], { waitMs: 20_000 });
    const call = await client.delivery();
    await write('/repo/src/a.txt', 'one\nTWO\nthree\n');
    await client.report(call, { result: appliedResult(call.batch!, { [DOC]: TEXT }, []) });
    expect((await posted).body.warnings).toEqual([]);
  });

  it('keeps the edits of a person under the proposed ids [PATCH-6]', async () => {
    await write('/repo/src/a.txt', TEXT);
    await fixture.post([patchCall()]);
    const call = await client.delivery();
    const edited = (changes: unknown[]) => patchCall([{ changes }]).arguments;
    const report = (changes: unknown[], result: unknown) => {
      const approval = { decision: 'edit', by: 'ada', at: '2025-06-01T12:00:00Z' };
      return client.report(call, { result, approval: { ...approval, editedArguments: edited(changes) } });
    };
    const result = appliedResult(call.batch!, { [DOC]: TEXT }, []);
    result.files[0]!.newSha256 = sha256('one\n2\nthree\n');
    const another = { operation: 'insert', afterLine: 3, newLines: ['four'] };
    const refused = { ok: false, error: { code: 'VALIDATION_ERROR' } };
    expect(await report([replaceTwo(), another], result)).toMatchObject(refused);
    expect(await report([replaceTwo({ newLines: ['2'] })], result)).toEqual({ ok: true });

    const { batchId, files } = call.batch!;
    const { body } = await fixture.user.get(`${base()}/patches/${batchId}`);
    const [{ filePatchId, changes } = { filePatchId: '', changes: [] }] = files;
    expect(body).toMatchObject({
      files: [{ changes: [{ newLines: ['TWO'] }] }],
      effective: {
        batchId,
        files: [{ filePatchId, changes: [{ changeId: changes[0]!.changeId, newLines: ['2'] }] }],
      },
    });
    expect(await readTrail(fixture.user, fixture.workspaceId, '&event=Tool.WritePatch.Diverged')).toEqual([]);
  });

  it('records how many changes a decision rejects, and accepts only changes of the batch', async () => {
    await write('/repo/src/a.txt', TEXT);
    await fixture.post([patchCall()]);
    const call = await client.delivery();
    const { changeId } = call.batch!.files[0]!.changes[0]!;
    const deny = (rejectedChangeIds: unknown[]) => {
      const approval = { decision: 'deny', by: 'ada', at: '2025-06-01T12:00:00Z', rejectedChangeIds };
      return client.report(call, { result: null, approval });
    };
    for (const ids of [[call.callId], [changeId, changeId]]) {
      expect(await deny(ids)).toMatchObject({ ok: false, error: { code: 'VALIDATION_ERROR' } });
    }
    expect(await deny([changeId])).toEqual({ ok: true });
    const [event] = await readTrail(fixture.user, fixture.workspaceId, '&event=Tool.WritePatch.Denied');
    expect(event!.fields.approval).toMatchObject({ rejectedChanges: 1, rejectedChangeIds: [changeId] });
  });
});
