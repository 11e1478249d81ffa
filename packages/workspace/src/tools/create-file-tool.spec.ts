import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import {
  createFile,
  type Ack,
  type Approval,
  type CreateFileResult,
  type FilePut,
  type FilePutAnswer,
  type Json,
  type JsonObject,
  type ToolCallDelivery,
} from '@patchbay/protocol';
import { contentHash, sha256 } from '@patchbay/protocol/hash';
import { Ajv } from 'ajv';
import { openDiskJournal } from '@patchbay/client/home';
import type { Journal, CallContext, ToolOutcome } from '@patchbay/client/relay';
import { WorkspaceRoots } from '../disk/workspace-roots.js';
import { rejectionOf, type ApprovalRequest, type Approver } from '../approval/approver.js';
import { CreateFileTool, type CreateFileExecuted } from './create-file-tool.js';

const at = new Date().toISOString();
const callOf = (callId: string, args: JsonObject): ToolCallDelivery => ({
  callId,
  attempt: 1,
  toolCallId: `tool-${callId}`,
  sessionId: 's',
  conversationId: 'c',
  turnId: 't',
  name: 'workspace_create_file',
  arguments: args,
  deadlines: { deliveryAt: null, approvalAt: null, executionAt: null },
});

/** Answers as a test tells it to, and remembers what it was asked. */
class Person implements Approver {
  readonly asked: ApprovalRequest[] = [];
  answer: (request: ApprovalRequest, signal: AbortSignal) => Approval | Promise<Approval> = () => ({
    decision: 'allow',
    by: 'ada',
    at,
  });

  async decide(request: ApprovalRequest, signal: AbortSignal): Promise<Approval> {
    this.asked.push(request);
    return this.answer(request, signal);
  }
}

describe('CreateFileTool', () => {
  let folder: string;
  let home: string;
  let roots: WorkspaceRoots;
  let journal: Journal;
  let person: Person;
  let executed: CreateFileExecuted[];
  let warnings: string[];
  let uploads: FilePut[];
  let answerPut: (file: FilePut) => Ack<FilePutAnswer>;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'patchbay-tool-'));
    home = await mkdtemp(join(tmpdir(), 'patchbay-tool-home-'));
    roots = await WorkspaceRoots.open([{ directory: folder }]);
    journal = await openDiskJournal(home);
    person = new Person();
    executed = [];
    warnings = [];
    uploads = [];
    answerPut = () => ({ ok: true, versionId: 'v', fileId: 'f', path: '/p/f' });
  });
  afterEach(async () => {
    await journal.close();
    await rm(folder, { recursive: true });
    await rm(home, { recursive: true });
  });

  const contextOf = (callId: string, signal: AbortSignal): CallContext => ({
    signal,
    writeLog: journal.writeLog(callId),
    awaitApproval: () => journal.awaitApproval(callId),
    start: (approval = null, basis = null) => journal.start(callId, approval, basis),
    putFile: async (file) => (uploads.push(file), answerPut(file)),
  });
  const tool = () =>
    new CreateFileTool(
      { roots },
      person,
      (line) => executed.push(line),
      (line) => warnings.push(line),
    );
  const run = async (call: ToolCallDelivery, handler = tool(), signal = new AbortController().signal) => {
    await journal.receive(call);
    return handler.run(call, contextOf(call.callId, signal));
  };
  const resultOf = (outcome: ToolOutcome) => outcome.result as unknown as CreateFileResult;
  const onDisk = (path: string) => readFile(join(folder, path), 'utf8');

  it('asks, writes what was allowed, and tells what it did [AUDIT-6]', async () => {
    const outcome = await run(callOf('1', { path: 'src/a.txt', content: 'one\r\ntwo' }));
    expect(person.asked[0]!.files).toEqual([
      { path: `${basename(folder)}/src/a.txt`, before: null, after: 'one\ntwo', hidden: null },
    ]);
    expect(await onDisk('src/a.txt')).toBe('one\ntwo');
    expect(outcome.approval).toMatchObject({ decision: 'allow', by: 'ada' });
    expect(executed).toEqual([
      {
        event: 'Tool.CreateFile.Executed',
        ...{ sessionId: 's', conversationId: 'c', turnId: 't', toolCallId: 'tool-1', callId: '1' },
        ...{ path: 'src/a.txt', overwrite: false, success: true, errorCode: null, sizeBytes: 7 },
        hash: contentHash('one\ntwo'),
      },
    ]);
  });

  it('shows the file that would be replaced', async () => {
    await writeFile(join(folder, 'a.txt'), 'old\n');
    await run(callOf('1', { path: 'a.txt', content: 'new\n', overwrite: true }));
    expect(person.asked[0]!.files[0]).toMatchObject({ before: 'old\n', after: 'new\n' });
    expect(await onDisk('a.txt')).toBe('new\n');
    expect(executed[0]).toMatchObject({ overwrite: true, success: true });
  });

  it.each([
    ['FileExists', { path: 'a.txt', content: 'new' }],
    ['InvalidPath', { path: '../a.txt', content: 'new' }],
  ])('asks nobody about a call that ends in %s anyway', async (errorCode, args) => {
    await writeFile(join(folder, 'a.txt'), 'old');
    const outcome = await run(callOf('1', args));
    expect(resultOf(outcome)).toMatchObject({ success: false, errorCode });
    expect(outcome.approval).toBeNull();
    expect(person.asked).toEqual([]);
    expect(executed).toMatchObject([{ success: false, errorCode }]);
  });

  it('sends what it wrote to the server, as it is spelt on disk', async () => {
    await run(callOf('1', { path: 'Src/A.txt', content: 'one\r\n' }));
    await run(callOf('2', { path: 'Src/A.txt', content: 'two\n', overwrite: true }));
    const path = `/${basename(folder)}/Src/A.txt`;
    const common = { path, docPath: path.slice(1).toLowerCase(), filePatchId: null };
    expect(uploads).toEqual([
      {
        ...common,
        ...{ callId: '1', content: Buffer.from('one\n'), sha256: sha256('one\n'), baseSha256: null },
      },
      {
        ...common,
        ...{
          callId: '2',
          content: Buffer.from('two\n'),
          sha256: sha256('two\n'),
          baseSha256: sha256('one\n'),
        },
      },
    ]);
    expect(warnings).toEqual([]);
  });

  it('has created a file that the server does not take, and warns', async () => {
    answerPut = () => ({ ok: false, error: { code: 'STALE', message: 'Moved on.' } });
    expect(resultOf(await run(callOf('1', { path: 'a.txt', content: 'x' })))).toMatchObject({
      success: true,
    });
    expect(warnings).toEqual(['a.txt: It did not become the new Cloud file (STALE): Moved on.']);
  });

  it('writes nothing that was denied, and logs no execution', async () => {
    person.answer = () => ({ decision: 'deny', by: 'ada', at, note: 'no' });
    const outcome = await run(callOf('1', { path: 'a.txt', content: 'x' }));
    expect(outcome).toMatchObject({ result: null, approval: { decision: 'deny', note: 'no' } });
    await expect(onDisk('a.txt')).rejects.toThrow('ENOENT');
    expect(executed).toEqual([]);
  });

  it('writes what the person made of it', async () => {
    person.answer = ({ edit }) => {
      const { editedArguments } = edit!(['edited\n']);
      return { decision: 'edit', by: 'ada', at, editedArguments };
    };
    const outcome = await run(callOf('1', { path: 'a.txt', content: 'x' }));
    expect(await onDisk('a.txt')).toBe('edited\n');
    expect(resultOf(outcome).hash).toBe(contentHash('edited\n'));
    expect(outcome.approval!.editedArguments).toEqual({ path: 'a.txt', content: 'edited\n' });
  });

  it('writes nothing once the call has ended while the person was thinking', async () => {
    person.answer = (_request, signal) => rejectionOf(signal);
    const running = run(callOf('1', { path: 'a.txt', content: 'x' }), tool(), AbortSignal.timeout(20));
    await expect(running).rejects.toMatchObject({ name: 'TimeoutError' });
    await expect(onDisk('a.txt')).rejects.toThrow('ENOENT');
  });

  it('writes nothing where the server says that the call is not here', async () => {
    const call = callOf('1', { path: 'a.txt', content: 'x' });
    const start = () => new Promise<void>((_, reject) => setImmediate(reject, new Error('Not yours.')));
    await journal.receive(call);
    const context = { ...contextOf('1', new AbortController().signal), start };
    await expect(tool().run(call, context)).rejects.toThrow('Not yours.');
    await expect(onDisk('a.txt')).rejects.toThrow('ENOENT');
  });

  it('keeps the order of calls on one path, whichever the person answers first', async () => {
    const handler = tool();
    person.answer = async ({ call }) => {
      if (call.callId === '1') await new Promise((resolve) => setTimeout(resolve, 30));
      return { decision: 'allow', by: 'ada', at };
    };
    const [first, second] = await Promise.all([
      run(callOf('1', { path: 'a.txt', content: 'first' }), handler),
      run(callOf('2', { path: 'a.txt', content: 'second', overwrite: true }), handler),
    ]);
    expect([resultOf(first).created, resultOf(second).overwritten]).toEqual([true, true]);
    expect(await onDisk('a.txt')).toBe('second');
  });

  it('lets no call pass those before it because one between them was cancelled', async () => {
    const handler = tool();
    let open!: () => void;
    const gate = new Promise<void>((resolve) => (open = resolve));
    person.answer = async ({ call }) => {
      if (call.callId === '1') await gate;
      return { decision: 'allow', by: 'ada', at };
    };
    const first = run(callOf('1', { path: 'a.txt', content: 'first' }), handler);
    const cancelled = run(callOf('2', { path: 'a.txt', content: 'x' }), handler, AbortSignal.timeout(20));
    const third = run(callOf('3', { path: 'a.txt', content: 'third' }), handler);
    await expect(cancelled).rejects.toMatchObject({ name: 'TimeoutError' });
    open();
    expect(resultOf(await first)).toMatchObject({ created: true });
    expect(resultOf(await third)).toMatchObject({ errorCode: 'FileExists' });
  });

  describe('a failure that nobody foresaw', () => {
    const isValid = new Ajv({ allowUnionTypes: true }).compile(createFile.responseSchema);
    const failureOf = async (args: JsonObject, started: boolean) => {
      const call = callOf('1', args);
      await journal.receive(call);
      if (started) await journal.start('1', { decision: 'allow', by: 'ada', at });
      return tool().reportFailure(call, journal.get('1')!);
    };

    it.each([
      ['before its start', false, 'An unexpected error; nothing was written.'],
      ['after its start', true, 'An unexpected error; look at the file before you try again.'],
    ])('has the shape of a create that failed, and is logged: %s', async (_when, started, message) => {
      const result = await failureOf({ path: 'src\\a.txt', content: 'x' }, started);
      expect(result).toEqual({
        ...{ success: false, errorCode: 'UnhandledException', message, path: 'src/a.txt' },
        docPath: `${basename(folder).toLowerCase()}/src/a.txt`,
        ...{ sizeBytes: 0, hash: '', created: false, overwritten: false },
      });
      expect(isValid(result)).toBe(true);
      expect(executed).toMatchObject([{ success: false, errorCode: 'UnhandledException' }]);
    });

    it('has that shape whatever the arguments are', async () => {
      expect(isValid(await failureOf({}, false))).toBe(true);
    });
  });

  describe('after a death of the client', () => {
    const call = callOf('1', { path: 'a.txt', content: 'x' });
    const approval: Approval = { decision: 'allow', by: 'ada', at };
    const reopen = async () => {
      await journal.close();
      journal = await openDiskJournal(home);
      const entry = journal.get('1')!;
      const ended = (result: Json) => journal.settle('1', result);
      const notRun = () => journal.rollBack('1');
      await tool().settle(entry.call!, { writeLog: journal.writeLog('1'), ended, notRun }, entry);
    };
    const recover = () => {
      const entry = journal.get('1')!;
      return tool().recover(entry.call!, contextOf('1', new AbortController().signal), entry);
    };

    it('runs a call that had done nothing, without asking again', async () => {
      await journal.receive(call);
      await journal.start('1', approval);
      await reopen();
      expect(journal.get('1')).toMatchObject({ state: 'running', settled: null });
      const outcome = await recover();
      expect(resultOf(outcome)).toMatchObject({ success: true, created: true });
      expect(outcome.approval).toEqual(approval);
      expect(person.asked).toEqual([]);
    });

    it('reports a file that it finds written, and writes no second time', async () => {
      await journal.receive(call);
      await journal.start('1', approval);
      // The executor ends, and the client dies before the journal has the result.
      await recover();
      [executed, uploads] = [[], []];
      await reopen();
      expect(journal.get('1')).toMatchObject({ settled: { result: { success: true, created: true } } });
      const outcome = await recover();
      expect(resultOf(outcome)).toMatchObject({ success: true, created: true });
      expect(uploads).toMatchObject([{ callId: '1', content: Buffer.from('x'), baseSha256: null }]);
      expect(executed).toMatchObject([{ event: 'Tool.CreateFile.Executed', callId: '1', success: true }]);
    });
  });
});
