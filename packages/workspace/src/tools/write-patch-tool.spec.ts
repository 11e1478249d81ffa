import { writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type Approval, type Json, type JsonObject, type PatchBatch } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { openDiskJournal } from '@patchbay/client/home';

import { rejectionOf } from '../approval/approver.js';

import {
  at,
  batchOf,
  callOf,
  insert,
  isValidResult,
  resultOf,
  ToolScene,
  untouched,
} from './write-patch-tool.sample.js';

describe('WritePatchTool', () => {
  const scene = new ToolScene();
  const { two, contextOf, tool, run, onDisk } = scene;
  beforeEach(() => scene.open());
  afterEach(() => scene.close());

  it('asks with a diff per file, writes, uploads as the files are spelt on disk, and tells what it did', async () => {
    const outcome = await run(callOf('1', two()));
    expect(scene.person.asked[0]!.files).toMatchObject([
      {
        path: `${basename(scene.folder)}/Src/A`,
        before: 'a\n',
        after: 'top\na\nend\n',
        patch: { label: `Why ${scene.root}/src/a` },
      },
      { path: `${basename(scene.folder)}/b`, before: 'b\n', after: 'b\nnew\n' },
    ]);
    expect(scene.person.asked[0]!.files[0]!.patch!.diff).toContain('@@ -1,1 +1,3 @@\n+top\n a\n+end\n');
    expect(scene.person.asked[0]!.files[0]!.patch!.changes.map(({ changeId }) => changeId)).toEqual([
      'f0c0',
      'f0c1',
    ]);
    expect(await onDisk()).toEqual(['top\na\nend\n', 'b\nnew\n']);
    expect(scene.uploads[0]).toEqual({
      docPath: `${scene.root}/src/a`,
      path: `/${basename(scene.folder)}/Src/A`,
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
    expect(scene.executed).toEqual([
      {
        event: 'Tool.WritePatch.Executed',
        ...{ sessionId: 's', conversationId: 'c', turnId: 't', toolCallId: 'tool-1', callId: '1' },
        ...{ batchId: 'b', files: 2, applied: 2, success: true, errorCode: null },
      },
    ]);
  });

  it('asks nobody about a batch of which a file has changed', async () => {
    await writeFile(join(scene.folder, 'b'), 'mine\n');
    const outcome = await run(callOf('1', two()));
    expect(resultOf(outcome)).toMatchObject({
      success: false,
      files: [{ status: 'skipped' }, { status: 'conflict', errorCode: 'STALE' }],
    });
    expect([scene.person.asked, scene.uploads, outcome.approval]).toEqual([[], [], null]);
    expect(scene.executed).toMatchObject([{ files: 2, applied: 0, success: false, errorCode: 'STALE' }]);
  });

  it('checks again what has changed while the person was thinking', async () => {
    scene.person.answer = async () => {
      await writeFile(join(scene.folder, 'b'), 'mine\n');
      return { decision: 'allow', by: 'ada', at };
    };
    expect(resultOf(await run(callOf('1', two()))).files[1]).toMatchObject({ errorCode: 'STALE' });
    expect(await onDisk()).toEqual(['a\n', 'mine\n']);
    expect(scene.uploads).toEqual([]);
  });

  it('writes and uploads what the person left of it', async () => {
    scene.person.answer = () => ({ rejectedChangeIds: ['f0c0', 'f1c0'] });
    const outcome = await run(callOf('1', two()));
    expect(await onDisk()).toEqual(['a\nend\n', 'b\n']);
    expect(resultOf(outcome)).toMatchObject({
      success: true,
      files: [
        { status: 'applied', changes: [{ status: 'rejected' }, { status: 'applied' }] },
        { status: 'rejected', versionId: null },
      ],
    });
    expect(outcome.approval).toMatchObject({ decision: 'allow', rejectedChangeIds: ['f0c0', 'f1c0'] });
    expect(scene.uploads.map(({ filePatchId }) => filePatchId)).toEqual(['f0']);
  });

  it.each([
    ['refuses', { decision: 'deny', note: 'no' }],
    ['rejects every change', { rejectedChangeIds: ['f0c0', 'f0c1', 'f1c0'], note: 'no' }],
  ] as [string, Partial<Approval>][])('writes nothing where the person %s', async (_how, answer) => {
    scene.person.answer = () => answer;
    expect(await run(callOf('1', two()))).toMatchObject({
      result: null,
      approval: { decision: 'deny', note: 'no' },
    });
    expect([await onDisk(), scene.executed]).toEqual([untouched, []]);
  });

  it('runs what the person edited, in an editor that can', async () => {
    const editedArguments = JSON.parse(JSON.stringify(two())) as JsonObject & PatchBatch;
    Object.assign(editedArguments.files[1]!.changes[0]!, { newLines: ['edited'] });
    scene.person.answer = () => ({ decision: 'edit', editedArguments });
    await run(callOf('1', two()));
    expect(await onDisk()).toEqual(['top\na\nend\n', 'b\nedited\n']);
  });

  it('makes of edited texts the changes of the batch, and writes those [PATCH-6]', async () => {
    scene.person.answer = ({ edit }) => {
      const { files, editedArguments, rejectedChangeIds } = edit!(['TOP\na\n', 'b\nnew\n']);
      expect(files.map(({ after }) => after)).toEqual(['TOP\na\n', 'b\nnew\n']);
      expect(files[0]!.patch).toMatchObject({ changes: [{ changeId: 'f0c0', newLines: ['TOP'] }] });
      return { decision: 'edit', editedArguments, rejectedChangeIds: rejectedChangeIds! };
    };
    const outcome = await run(callOf('1', two()));
    expect(await onDisk()).toEqual(['TOP\na\n', 'b\nnew\n']);
    const [first] = resultOf(outcome).files;
    expect(first!.changes.map(({ status }) => status)).toEqual(['applied', 'rejected']);
  });

  it('shows the label of the batch, and edits no patch that says endings of its own', async () => {
    const revert = two();
    Object.assign(revert.files[0]!.changes[0]!, { newEndings: ['\r\n'] });
    await run(callOf('1', { ...revert, batchLabel: 'Undo it' }));
    expect(scene.person.asked[0]).toMatchObject({ label: 'Undo it' });
    expect(scene.person.asked[0]!.edit).toBeUndefined();
  });

  it('leaves a file applied whose upload is refused, and says so', async () => {
    scene.answerPut = ({ filePatchId }) =>
      filePatchId === 'f1'
        ? { ok: false, error: { code: 'STALE', message: 'The Cloud file has moved on.' } }
        : { ok: true, versionId: 'v', fileId: 'f', path: '/p/f' };
    const { success, files } = resultOf(await run(callOf('1', two())));
    expect([success, files[0]!.versionId]).toEqual([true, 'v']);
    expect(files[1]).toMatchObject({ status: 'applied', versionId: null, errorCode: null });
    expect(files[1]!.message).toContain('(STALE): The Cloud file has moved on.');
  });

  it('does not upload what was changed right after it was written', async () => {
    scene.answerPut = async ({ filePatchId }) => {
      if (filePatchId === 'f0') await writeFile(join(scene.folder, 'b'), 'mine\n');
      return { ok: true, versionId: 'v', fileId: 'f', path: '/p/f' };
    };
    const { files } = resultOf(await run(callOf('1', two())));
    expect(files[1]).toMatchObject({ status: 'applied', newSha256: sha256('b\nnew\n'), versionId: null });
    expect(files[1]!.message).toContain('has changed since');
    expect(scene.uploads).toHaveLength(1);
  });

  it('writes nothing once the call has ended while the person was thinking', async () => {
    scene.person.answer = (_request, signal) => rejectionOf(signal);
    const running = run(callOf('1', two()), tool(), AbortSignal.timeout(20));
    await expect(running).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(await onDisk()).toEqual(untouched);
  });

  it('writes nothing where the server says that the call is not here', async () => {
    const context = scene.contextOf('1', new AbortController().signal);
    const start = () => new Promise<void>((_, reject) => setImmediate(reject, new Error('Not yours.')));
    await scene.journal.receive(callOf('1', two()));
    await expect(tool().run(callOf('1', two()), { ...context, start })).rejects.toThrow('Not yours.');
    expect(await onDisk()).toEqual(untouched);
  });

  it('fails a delivery without a batch, and one whose batch is not sound, before anyone is asked', async () => {
    await expect(run(callOf('1', null))).rejects.toThrow('has no patch batch');
    const broken = two();
    broken.files[0]!.docPath = '../a';
    await expect(run(callOf('2', broken))).rejects.toThrow('is not sound');
    expect(scene.person.asked).toEqual([]);
  });

  it('holds a batch against what the one before it leaves, and lets others pass', async () => {
    const handler = tool();
    let open!: () => void;
    const gate = new Promise<void>((resolve) => (open = resolve));
    scene.person.answer = async ({ call }) => {
      if (call.callId === '1') await gate;
      return { decision: 'allow', by: 'ada', at };
    };
    const a = (original: string, line: string) =>
      batchOf([{ docPath: `${scene.root}/src/a`, original, changes: [insert(0, line)] }]);
    const first = run(callOf('1', a('a\n', 'one')), handler);
    const second = run(callOf('2', a('one\na\n', 'two')), handler);
    const other = run(
      callOf('3', batchOf([{ docPath: `${scene.root}/b`, original: 'b\n', changes: [insert(0, 'x')] }])),
      handler,
    );
    expect(resultOf(await other).success).toBe(true);
    open();
    expect([resultOf(await first).success, resultOf(await second).success]).toEqual([true, true]);
    expect(await onDisk()).toEqual(['two\none\na\n', 'x\nb\n']);
  });

  it('has a failure that nobody foresaw in the shape of a batch, and logs it', async () => {
    const call = callOf('1', two());
    await scene.journal.receive(call);
    await scene.journal.start('1', { decision: 'allow', by: 'ada', at, rejectedChangeIds: ['f0c0', 'f1c0'] });
    const result = tool().reportFailure(call, scene.journal.get('1')!);
    expect([isValidResult(result), isValidResult.errors]).toEqual([true, null]);
    expect(result).toMatchObject({
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
    expect(scene.executed).toMatchObject([{ success: false, applied: 0, errorCode: 'UnhandledException' }]);
  });

  describe('after a death of the client', () => {
    const approval: Approval = { decision: 'allow', by: 'ada', at, rejectedChangeIds: ['f0c0'] };
    const reopen = async () => {
      await scene.journal.close();
      scene.journal = await openDiskJournal(scene.home);
      const entry = scene.journal.get('1')!;
      const ended = (result: Json) => scene.journal.settle('1', result);
      const notRun = () => scene.journal.rollBack('1');
      await tool().settle(entry.call!, { writeLog: scene.journal.writeLog('1'), ended, notRun }, entry);
    };
    const recover = () => {
      const entry = scene.journal.get('1')!;
      return tool().recover(entry.call!, contextOf('1', new AbortController().signal), entry);
    };

    it('runs a batch that had done nothing, as it was approved, without asking again', async () => {
      await scene.journal.receive(callOf('1', two()));
      await scene.journal.start('1', approval);
      await reopen();
      const outcome = await recover();
      expect(resultOf(outcome)).toMatchObject({
        success: true,
        files: [{ versionId: 'v-a' }, { versionId: 'v-b' }],
      });
      expect([await onDisk(), scene.person.asked]).toEqual([['a\nend\n', 'b\nnew\n'], []]);
      expect(outcome.approval).toEqual(approval);
    });

    it('uploads and reports a batch that it finds written, and writes no second time', async () => {
      await scene.journal.receive(callOf('1', two()));
      await scene.journal.start('1', approval);
      scene.answerPut = () => Promise.reject(new Error('The client is closing.'));
      await expect(recover()).rejects.toThrow('closing');
      await reopen();
      expect(scene.journal.get('1')).toMatchObject({ settled: { result: { success: true } } });
      scene.answerPut = () => ({ ok: true, versionId: 'v', fileId: 'f', path: '/p/f' });
      const outcome = await recover();
      expect(resultOf(outcome)).toMatchObject({
        success: true,
        files: [{ versionId: 'v' }, { versionId: 'v' }],
      });
      expect(await onDisk()).toEqual(['a\nend\n', 'b\nnew\n']);
      expect(scene.executed).toMatchObject([{ callId: '1', applied: 2, success: true }]);
    });
  });
});
