import { basename } from 'node:path';
import type { Approval } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { rejectionOf } from '../approval/approver.js';
import { allow } from './tool-fixture.sample.js';
import { batchOf, callOf, insert, PatchFixture, resultOf, untouched } from './write-patch-tool.sample.js';

describe('WritePatchTool', () => {
  const fixture = new PatchFixture();
  const { contents, recover, restart, run, tool, two, write } = fixture;
  beforeEach(() => fixture.open());
  afterEach(() => fixture.close());

  it('asks with a diff per file, writes, uploads under the names on disk, and reports the batch', async () => {
    const outcome = await run(callOf('1', two()));
    expect(fixture.person.asked[0]!.files).toMatchObject([
      {
        path: `${basename(fixture.folder)}/Src/A`,
        before: 'a\n',
        after: 'top\na\nend\n',
        patch: { label: `Why ${fixture.root}/src/a` },
      },
      { path: `${basename(fixture.folder)}/b`, before: 'b\n', after: 'b\nnew\n' },
    ]);
    expect(fixture.person.asked[0]!.files[0]!.patch!.diff).toContain('@@ -1,1 +1,3 @@\n+top\n a\n+end\n');
    expect(fixture.person.asked[0]!.files[0]!.patch!.changes.map(({ changeId }) => changeId)).toEqual([
      'f0c0',
      'f0c1',
    ]);
    expect(await contents()).toEqual(['top\na\nend\n', 'b\nnew\n']);
    expect(fixture.uploads[0]).toEqual({
      docPath: `${fixture.root}/src/a`,
      path: `/${basename(fixture.folder)}/Src/A`,
      content: Buffer.from('top\na\nend\n'),
      sha256: sha256('top\na\nend\n'),
      baseSha256: sha256('a\n'),
      callId: '1',
      filePatchId: 'f0',
    });
    expect(resultOf(outcome)).toMatchObject({
      success: true,
      files: [{ versionId: 'v-a' }, { versionId: 'v-b' }],
    });
    expect(outcome.approval).toMatchObject({ decision: 'allow', by: 'ada' });
    expect(fixture.executed).toEqual([
      {
        event: 'Tool.WritePatch.Executed',
        ...{ sessionId: 's', conversationId: 'c', turnId: 't', toolCallId: 'tool-1', callId: '1' },
        ...{ batchId: 'b', files: 2, applied: 2, success: true, errorCode: null },
      },
    ]);
  });

  it('answers a batch with a changed file without asking', async () => {
    await write('b', 'mine\n');
    const outcome = await run(callOf('1', two()));
    expect(resultOf(outcome)).toMatchObject({
      success: false,
      files: [{ status: 'skipped' }, { status: 'conflict', errorCode: 'STALE' }],
    });
    expect([fixture.person.asked, fixture.uploads, outcome.approval]).toEqual([[], [], null]);
    expect(fixture.executed).toMatchObject([{ files: 2, applied: 0, success: false, errorCode: 'STALE' }]);
  });

  it('checks again for changes before the decision', async () => {
    fixture.person.answer = async () => {
      await write('b', 'mine\n');
      return {};
    };
    expect(resultOf(await run(callOf('1', two()))).files[1]).toMatchObject({ errorCode: 'STALE' });
    expect(await contents()).toEqual(['a\n', 'mine\n']);
    expect(fixture.uploads).toEqual([]);
  });

  it('writes and uploads only the accepted changes', async () => {
    fixture.person.answer = () => ({ rejectedChangeIds: ['f0c0', 'f1c0'] });
    const outcome = await run(callOf('1', two()));
    expect(await contents()).toEqual(['a\nend\n', 'b\n']);
    expect(resultOf(outcome)).toMatchObject({
      success: true,
      files: [
        { status: 'applied', changes: [{ status: 'rejected' }, { status: 'applied' }] },
        { status: 'rejected', versionId: null },
      ],
    });
    expect(outcome.approval).toMatchObject({ decision: 'allow', rejectedChangeIds: ['f0c0', 'f1c0'] });
    expect(fixture.uploads.map(({ filePatchId }) => filePatchId)).toEqual(['f0']);
  });

  it.each([
    ['denies it', { decision: 'deny', note: 'no' }],
    ['rejects every change', { rejectedChangeIds: ['f0c0', 'f0c1', 'f1c0'], note: 'no' }],
  ] as [string, Partial<Approval>][])('writes nothing if the user %s', async (_how, answer) => {
    fixture.person.answer = () => answer;
    expect(await run(callOf('1', two()))).toMatchObject({
      result: null,
      approval: { decision: 'deny', note: 'no' },
    });
    expect([await contents(), fixture.executed]).toEqual([untouched, []]);
  });

  it('converts edited texts into changes of the batch and writes them [PATCH-6]', async () => {
    fixture.person.answer = ({ edit }) => {
      const { files, editedArguments, rejectedChangeIds } = edit!(['TOP\na\n', 'b\nnew\n']);
      expect(files.map(({ after }) => after)).toEqual(['TOP\na\n', 'b\nnew\n']);
      expect(files[0]!.patch).toMatchObject({ changes: [{ changeId: 'f0c0', newLines: ['TOP'] }] });
      return { decision: 'edit', editedArguments, rejectedChangeIds: rejectedChangeIds! };
    };
    const outcome = await run(callOf('1', two()));
    expect(await contents()).toEqual(['TOP\na\n', 'b\nnew\n']);
    const [first] = resultOf(outcome).files;
    expect(first!.changes.map(({ status }) => status)).toEqual(['applied', 'rejected']);
  });

  it('shows the label of the batch, and offers no edit of a patch with its own line endings', async () => {
    const revert = two();
    Object.assign(revert.files[0]!.changes[0]!, { newEndings: ['\r\n'] });
    await run(callOf('1', { ...revert, batchLabel: 'Undo it' }));
    expect(fixture.person.asked[0]).toMatchObject({ label: 'Undo it' });
    expect(fixture.person.asked[0]!.edit).toBeUndefined();
  });

  it('keeps a file applied whose upload is refused, and says so', async () => {
    fixture.answerPut = ({ filePatchId }) =>
      filePatchId === 'f1'
        ? { ok: false, error: { code: 'STALE', message: 'The Cloud file has moved on.' } }
        : { ok: true, versionId: 'v', fileId: 'f', path: '/p/f' };
    const { success, files } = resultOf(await run(callOf('1', two())));
    expect([success, files[0]!.versionId]).toEqual([true, 'v']);
    expect(files[1]).toMatchObject({ status: 'applied', versionId: null, errorCode: null });
    expect(files[1]!.message).toContain('(STALE): The Cloud file has moved on.');
  });

  it('does not upload a file that was changed right after the write', async () => {
    fixture.answerPut = async ({ filePatchId }) => {
      if (filePatchId === 'f0') await write('b', 'mine\n');
      return { ok: true, versionId: 'v', fileId: 'f', path: '/p/f' };
    };
    const { files } = resultOf(await run(callOf('1', two())));
    expect(files[1]).toMatchObject({ status: 'applied', newSha256: sha256('b\nnew\n'), versionId: null });
    expect(files[1]!.message).toContain('has changed since');
    expect(fixture.uploads).toHaveLength(1);
  });

  it('writes nothing if the call ends before the decision', async () => {
    fixture.person.answer = (_request, signal) => rejectionOf(signal);
    const running = run(callOf('1', two()), tool(), AbortSignal.timeout(20));
    await expect(running).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(await contents()).toEqual(untouched);
  });

  it('writes nothing if the server rejects the start', async () => {
    fixture.onStart = () => new Promise((_, reject) => setImmediate(reject, new Error('Not yours.')));
    await expect(run(callOf('1', two()))).rejects.toThrow('Not yours.');
    expect(await contents()).toEqual(untouched);
  });

  it('rejects a delivery without a batch or with an invalid one, without asking', async () => {
    await expect(run(callOf('1', null))).rejects.toThrow('has no patch batch');
    const broken = two();
    broken.files[0]!.docPath = '../a';
    await expect(run(callOf('2', broken))).rejects.toThrow('is not sound');
    expect(fixture.person.asked).toEqual([]);
  });

  it('checks a batch against the result of the earlier one, without blocking other files', async () => {
    const handler = tool();
    let open!: () => void;
    const gate = new Promise<void>((resolve) => (open = resolve));
    fixture.person.answer = async ({ call }) => {
      if (call.callId === '1') await gate;
      return {};
    };
    const a = (original: string, line: string) =>
      batchOf([{ docPath: `${fixture.root}/src/a`, original, changes: [insert(0, line)] }]);
    const first = run(callOf('1', a('a\n', 'one')), handler);
    const second = run(callOf('2', a('one\na\n', 'two')), handler);
    const other = run(
      callOf('3', batchOf([{ docPath: `${fixture.root}/b`, original: 'b\n', changes: [insert(0, 'x')] }])),
      handler,
    );
    expect(resultOf(await other).success).toBe(true);
    open();
    expect([resultOf(await first).success, resultOf(await second).success]).toEqual([true, true]);
    expect(await contents()).toEqual(['two\none\na\n', 'x\nb\n']);
  });

  it('reports and logs an unexpected failure in the shape of a batch', async () => {
    const approval = { ...allow, rejectedChangeIds: ['f0c0', 'f1c0'] };
    expect(await fixture.failureOf(callOf('1', two()), approval)).toMatchObject({
      success: false,
      files: [
        {
          ...{ status: 'failed', errorCode: 'UnhandledException' },
          message: 'An unexpected error; look at the files before you try again.',
          changes: [{ status: 'rejected' }, { status: 'failed' }],
        },
        { status: 'rejected' },
      ],
    });
    expect(fixture.executed).toMatchObject([{ success: false, applied: 0, errorCode: 'UnhandledException' }]);
  });

  it('uploads and reports a batch that was written before a crash, without writing it again', async () => {
    await fixture.journal.receive(callOf('1', two()));
    await fixture.journal.start('1', { ...allow, rejectedChangeIds: ['f0c0'] });
    fixture.answerPut = () => Promise.reject(new Error('The client is closing.'));
    await expect(recover()).rejects.toThrow('closing');
    await restart();
    expect(fixture.journal.get('1')).toMatchObject({ settled: { result: { success: true } } });
    fixture.answerPut = () => ({ ok: true, versionId: 'v', fileId: 'f', path: '/p/f' });
    const outcome = await recover();
    const files = [{ versionId: 'v' }, { versionId: 'v' }];
    expect(resultOf(outcome)).toMatchObject({ success: true, files });
    expect(outcome.approval).toMatchObject({ rejectedChangeIds: ['f0c0'] });
    expect(await contents()).toEqual(['a\nend\n', 'b\nnew\n']);
    expect(fixture.executed).toMatchObject([{ callId: '1', applied: 2, success: true }]);
  });
});
