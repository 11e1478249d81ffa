import type {
  Ack,
  FilePutAnswer,
  FilePatch,
  JsonObject,
  PatchBatch,
  PatchFileResult,
  ToolCallDelivery,
  WritePatchResult,
} from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { applyFilePatch } from '@patchbay/protocol/line-patch';
import type { FakeClient } from '../support/fake-client.js';
import { readTrail } from '../support/invariants.js';
import { RelayScene } from '../support/relay-scene.js';

const TEXT = 'one\ntwo\nthree\n';
const DOC = 'repo/src/a.txt';

interface PatchOptions {
  docPath?: string;
  sha?: string;
  changes?: unknown[];
}

function replaceTwo(change: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    changeKey: 'two',
    operation: 'replace',
    description: 'Say it louder',
    startLine: 2,
    endLine: 2,
    expectedOriginalLines: ['two'],
    newLines: ['TWO'],
    ...change,
  };
}

function patchCall(files: PatchOptions[] = [{}], more: JsonObject = {}): Record<string, unknown> {
  return {
    toolCallId: 'p1',
    name: 'workspace_write_patch',
    arguments: {
      batchKey: 'louder',
      batchLabel: 'Louder',
      ...more,
      files: files.map(({ docPath = DOC, sha = sha256(TEXT), changes = [replaceTwo()] }, at) => ({
        fileKey: `file-${at}`,
        docPath,
        originalSha256: sha,
        fileLabel: null,
        changes,
      })),
    },
  };
}

/** What a good client answers when it has applied the whole batch; `change` edits the file results. */
function appliedResult(
  batch: PatchBatch,
  texts: Record<string, string>,
  versions: (string | null)[],
): WritePatchResult {
  const files = batch.files.map((file, at): PatchFileResult => {
    const applied = applyFilePatch(Buffer.from(texts[file.docPath]!), file);
    if (!applied.ok) throw new Error(applied.faults[0]!.message);
    return fileResult(file, sha256(applied.bytes), versions[at] ?? null);
  });
  return {
    success: true,
    batchId: batch.batchId!,
    batchKey: batch.batchKey,
    batchLabel: batch.batchLabel,
    files,
  };
}

function fileResult(file: FilePatch, newSha256: string, versionId: string | null): PatchFileResult {
  return {
    filePatchId: file.filePatchId!,
    fileKey: file.fileKey,
    docPath: file.docPath,
    status: 'applied',
    originalSha256: file.originalSha256,
    newSha256,
    versionId,
    errorCode: null,
    message: null,
    changes: file.changes.map(({ changeId, changeKey, operation, description }) => ({
      ...{ changeId: changeId!, changeKey, operation, description },
      ...{ status: 'applied', errorCode: null, message: null },
    })),
  };
}

describe('workspace_write_patch', () => {
  let scene: RelayScene;
  let client: FakeClient;

  beforeEach(async () => {
    scene = await RelayScene.start();
    client = await scene.client({ tools: ['workspace_write_patch', 'workspace_create_file'] });
  });
  afterEach(() => scene.close());

  async function write(path: string, text: string): Promise<void> {
    const call = { toolCallId: 'w', name: 'write', arguments: { path, content: { text } } };
    const { body } = await scene.post([call], { waitMs: 5_000 });
    expect(body.result.toolResults).toMatchObject([{ status: 'succeeded' }]);
  }

  function put(
    call: ToolCallDelivery,
    at: number,
    text: string,
    more: Record<string, unknown> = {},
  ): Promise<Ack<FilePutAnswer>> {
    const file = call.batch!.files[at]!;
    return client.socket.timeout(5_000).emitWithAck('files:put', {
      ...{
        docPath: file.docPath,
        path: `/${file.docPath}`,
        content: Buffer.from(text),
        sha256: sha256(text),
      },
      ...{ baseSha256: file.originalSha256, callId: call.callId, filePatchId: file.filePatchId!, ...more },
    });
  }

  /** Has the client apply what it was sent, upload it and report. */
  async function carryOut(call: ToolCallDelivery, texts: Record<string, string>): Promise<WritePatchResult> {
    const versions: (string | null)[] = [];
    for (const [at, file] of call.batch!.files.entries()) {
      const applied = applyFilePatch(Buffer.from(texts[file.docPath]!), file);
      if (!applied.ok) throw new Error(applied.faults[0]!.message);
      const answer = await put(call, at, Buffer.from(applied.bytes).toString());
      versions.push(answer.ok ? answer.versionId : null);
    }
    const result = appliedResult(call.batch!, texts, versions);
    expect(await client.report(call, { result })).toEqual({ ok: true });
    return result;
  }

  const base = (): string => `/workspaces/${scene.workspaceId}`;

  it('goes from the call to the new Cloud truth, ids and keys all the way [PATCH-3]', async () => {
    await write('/Repo/src/A.txt', TEXT);
    const posted = scene.post([patchCall()], { waitMs: 5_000 });
    const call = await client.delivery();
    expect(call.batch).toMatchObject({ batchKey: 'louder', files: [{ docPath: DOC, fileKey: 'file-0' }] });
    const result = await carryOut(call, { [DOC]: TEXT });
    const { body } = await posted;
    expect(body.warnings).toEqual([]);
    expect(body.result.toolResults).toMatchObject([{ status: 'succeeded', result }]);

    const read = { toolCallId: 'r', name: 'read', arguments: { path: '/Repo/src/A.txt' } };
    const { body: after } = await scene.post([read], { waitMs: 5_000 });
    expect(after.result.toolResults).toMatchObject([{ result: { content: { text: 'one\nTWO\nthree\n' } } }]);

    const { batchId, files } = call.batch!;
    const stored = await scene.user.get(`${base()}/patches/${batchId}`);
    expect(stored).toMatchObject({
      status: 200,
      body: {
        batchId,
        status: 'succeeded',
        userId: scene.user.id,
        files: [
          {
            outcome: { status: 'applied', newSha256: sha256('one\nTWO\nthree\n') },
            changes: [{ outcome: { status: 'applied' } }],
          },
        ],
      },
    });
    const change = await scene.user.get(`${base()}/changes/${files[0]!.changes[0]!.changeId}`);
    expect(change.body).toMatchObject({
      batchId,
      docPath: DOC,
      change: { changeKey: 'two', description: 'Say it louder' },
    });
  });

  it('goes out before the calls behind it, although it takes longer to put together', async () => {
    const create = { name: 'workspace_create_file', arguments: { path: 'x.txt', content: 'x' } };
    await scene.post([patchCall(), { toolCallId: 'c2', ...create }, { toolCallId: 'c3', ...create }]);
    await client.delivery(3);
    expect(client.calls.map(({ toolCallId }) => toolCallId)).toEqual(['p1', 'c2', 'c3']);
  });

  it('names the batch in the trail, and what it holds by number', async () => {
    await scene.post([patchCall([{}, { docPath: 'repo/b.txt' }])]);
    const { batch } = await client.delivery();
    const trail = await readTrail(scene.user, scene.workspaceId, '&event=Tool.WritePatch.Forwarded');
    expect(trail.map(({ fields }) => fields)).toEqual([
      { toolName: 'workspace_write_patch', batchId: batch!.batchId, files: 2, changes: 2 },
    ]);
  });

  it('reports every fault of a batch at once, with nothing stored or sent [PATCH-1]', async () => {
    const changes = [replaceTwo({ startLine: 3 }), { operation: 'erase' }, replaceTwo({ newLines: [] })];
    const { body } = await scene.post([patchCall([{ sha: 'beef', changes }, { docPath: 'Repo/B.txt' }])]);
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

  it('fails at once where the Cloud file has moved on, and says with which sha256 it would fit [PATCH-2]', async () => {
    await write('/repo/src/a.txt', TEXT + 'four\n');
    const { body } = await scene.post([patchCall()]);
    expect(body.result.toolResults).toMatchObject([
      {
        status: 'failed',
        error: {
          code: 'STALE',
          details: { faults: [{ code: 'STALE', currentSha256: sha256(TEXT + 'four\n') }] },
        },
      },
    ]);
    expect(JSON.stringify(body)).toContain('All expected lines still stand');
  });

  it('fails at once where the lines are not what the file holds, with the lines that are there [PATCH-2]', async () => {
    await write('/repo/src/a.txt', TEXT);
    const changes = [replaceTwo({ expectedOriginalLines: ['three'] })];
    const { body } = await scene.post([patchCall([{ changes }])]);
    expect(body.result.toolResults).toMatchObject([
      {
        error: {
          code: 'LINES_MISMATCH',
          details: { faults: [{ actualLines: [{ line: 2, text: 'two' }], foundAt: 3 }] },
        },
      },
    ]);
  });

  it('refuses a result that is not about the batch [PATCH-4]', async () => {
    await scene.post([patchCall()]);
    const call = await client.delivery();
    const result = appliedResult(call.batch!, { [DOC]: TEXT }, []);
    result.files[0]!.changes[0]!.changeId = 'chg-0007';
    expect(await client.report(call, { result })).toMatchObject({
      ok: false,
      error: { code: 'VALIDATION_ERROR' },
    });
  });

  it('warns and records where the reported file is not what the patch gives [PATCH-5]', async () => {
    await write('/repo/src/a.txt', TEXT);
    const posted = scene.post([patchCall()], { waitMs: 5_000 });
    const call = await client.delivery();
    const result = appliedResult(call.batch!, { [DOC]: TEXT }, []);
    result.files[0]!.newSha256 = sha256('something else');
    await client.report(call, { result });
    const { body } = await posted;
    expect(body.warnings).toMatchObject([{ errorCode: 'DIVERGED', details: { toolCallId: 'p1' } }]);
    const trail = await readTrail(scene.user, scene.workspaceId, '&event=Tool.WritePatch.Diverged');
    expect(trail).toMatchObject([{ fields: { docPath: DOC, against: 'own_application' } }]);
  });

  it('warns and records where the reported file is not what was uploaded [PATCH-5]', async () => {
    const posted = scene.post([patchCall()], { waitMs: 5_000 });
    const call = await client.delivery();
    const uploaded = await put(call, 0, 'something else\n', { baseSha256: null });
    if (!uploaded.ok) throw new Error(uploaded.error.message);
    const result = appliedResult(call.batch!, { [DOC]: TEXT }, [uploaded.versionId]);
    expect(await client.report(call, { result })).toEqual({ ok: true });
    const { body } = await posted;
    expect(body.result.toolResults).toMatchObject([{ status: 'succeeded' }]);
    expect(body.warnings).toMatchObject([{ errorCode: 'DIVERGED' }]);
    const trail = await readTrail(scene.user, scene.workspaceId, '&event=Tool.WritePatch.Diverged');
    expect(trail).toMatchObject([{ fields: { docPath: DOC, against: 'upload' } }]);
  });

  it('keeps what a person made of it, under the ids of what was proposed [PATCH-6]', async () => {
    await write('/repo/src/a.txt', TEXT);
    await scene.post([patchCall()]);
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
    const { body } = await scene.user.get(`${base()}/patches/${batchId}`);
    const [{ filePatchId, changes } = { filePatchId: '', changes: [] }] = files;
    expect(body).toMatchObject({
      files: [{ changes: [{ newLines: ['TWO'] }] }],
      effective: {
        batchId,
        files: [{ filePatchId, changes: [{ changeId: changes[0]!.changeId, newLines: ['2'] }] }],
      },
    });
    expect(await readTrail(scene.user, scene.workspaceId, '&event=Tool.WritePatch.Diverged')).toEqual([]);
  });

  it('keeps an upload whose base has moved on, beside the head [FILE-5]', async () => {
    await write('/repo/src/a.txt', TEXT);
    await scene.post([patchCall()]);
    const call = await client.delivery();
    await write('/repo/src/a.txt', 'meanwhile\n');
    const answer = await put(call, 0, 'one\nTWO\nthree\n');
    expect(answer).toMatchObject({
      ok: false,
      error: {
        code: 'STALE',
        details: { currentSha256: sha256('meanwhile\n'), conflictVersionId: expect.any(String) as string },
      },
    });
    expect(await put(call, 0, 'one\nTWO\nthree\n')).toEqual(answer);
  });

  it('takes the same upload twice as one [FILE-5]', async () => {
    await write('/repo/src/a.txt', TEXT);
    await scene.post([patchCall()]);
    const call = await client.delivery();
    const first = await put(call, 0, 'one\nTWO\nthree\n');
    expect(first).toMatchObject({ ok: true });
    expect(await put(call, 0, 'one\nTWO\nthree\n')).toEqual(first);
  });

  it('takes the same upload as one when it comes several times at once [FILE-5]', async () => {
    await write('/repo/src/a.txt', TEXT);
    await scene.post([patchCall()]);
    const call = await client.delivery();
    const answers = await Promise.all([1, 2, 3].map(() => put(call, 0, 'one\nTWO\nthree\n')));
    expect(answers).toEqual([answers[0], answers[0], answers[0]]);
    expect(answers[0]).toMatchObject({ ok: true });
  });

  it('takes an upload of what the Cloud has already, as a version of its own', async () => {
    await write('/repo/src/a.txt', TEXT);
    const posted = scene.post([patchCall()], { waitMs: 5_000 });
    const call = await client.delivery();
    await write('/repo/src/a.txt', 'one\nTWO\nthree\n');
    const uploaded = await put(call, 0, 'one\nTWO\nthree\n');
    if (!uploaded.ok) throw new Error(uploaded.error.message);
    await client.report(call, { result: appliedResult(call.batch!, { [DOC]: TEXT }, [uploaded.versionId]) });
    expect((await posted).body.warnings).toEqual([]);
  });

  it('says of a decision how many changes it rejects, and takes only those of the batch', async () => {
    await write('/repo/src/a.txt', TEXT);
    await scene.post([patchCall()]);
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
    const [event] = await readTrail(scene.user, scene.workspaceId, '&event=Tool.WritePatch.Denied');
    expect(event!.fields.approval).toMatchObject({ rejectedChanges: 1, rejectedChangeIds: [changeId] });
  });

  it.each([
    ['another sha256', { sha256: 'a'.repeat(64) }, 'VALIDATION_ERROR'],
    ['another docPath', { docPath: 'repo/other.txt' }, 'VALIDATION_ERROR'],
    ['text in the place of bytes', { content: 'text' }, 'VALIDATION_ERROR'],
    ['an unknown file patch', { filePatchId: '01a200ef-dbdf-7042-8e77-612ae8a639f0' }, 'NOT_FOUND'],
  ])('refuses an upload with %s', async (_what, change, code) => {
    await scene.post([patchCall()]);
    const call = await client.delivery();
    expect(await put(call, 0, 'x', change)).toMatchObject({ ok: false, error: { code } });
  });

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
    await scene.user.post(path, { sessionId, waitMs: 0, allowPartial: true });
    expect((await client.delivery(2)).batch!.files.map(({ docPath }) => docPath)).toEqual([DOC]);
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
