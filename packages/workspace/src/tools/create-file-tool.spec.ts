import { readdir, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Approval } from '@patchbay/protocol';
import { contentHash, sha256 } from '@patchbay/protocol/hash';
import { rejectionOf } from '../approval/approver.js';
import { CreateFixture, createOf, resultOf } from './create-file-tool.sample.js';
import { allow } from './tool-fixture.sample.js';

describe('CreateFileTool', () => {
  const fixture = new CreateFixture();
  const { read, recover, restart, run, tool, write } = fixture;
  beforeEach(() => fixture.open());
  afterEach(() => fixture.close());

  it('asks, writes the allowed file and reports it [AUDIT-6]', async () => {
    const outcome = await run(createOf('1', { path: './src\\a.txt', content: 'one\r\ntwo' }));
    expect(fixture.person.asked[0]!.files).toEqual([
      { path: `${basename(fixture.folder)}/src/a.txt`, before: null, after: 'one\ntwo', hidden: null },
    ]);
    expect(await read('src/a.txt')).toBe('one\ntwo');
    expect(outcome.approval).toMatchObject({ decision: 'allow', by: 'ada' });
    expect(fixture.executed).toEqual([
      {
        event: 'Tool.CreateFile.Executed',
        ...{ sessionId: 's', conversationId: 'c', turnId: 't', toolCallId: 'tool-1', callId: '1' },
        ...{ path: 'src/a.txt', overwrite: false, success: true, errorCode: null, sizeBytes: 7 },
        hash: contentHash('one\ntwo'),
      },
    ]);
  });

  it('shows the current text of the file that it would replace', async () => {
    await write('a.txt', '\ufeffold\r\n');
    await run(createOf('1', { path: 'a.txt', content: 'new\n', overwrite: true }));
    expect(fixture.person.asked[0]!.files[0]).toMatchObject({ before: '\ufeffold\r\n', after: 'new\n' });
    expect(await read('a.txt')).toBe('new\n');
    expect(fixture.executed[0]).toMatchObject({ overwrite: true, success: true });
  });

  it.each([
    ['too_large', 'x'.repeat(101)],
    ['binary', 'a\0b'],
    ['binary', Buffer.from([0xe4])],
  ])('says that it cannot show a replaced file: %s', async (hidden, content) => {
    fixture.more = { maxFileBytes: 100 };
    await writeFile(join(fixture.folder, 'a'), content);
    await run(createOf('1', { path: 'a', content: '', overwrite: true }));
    expect(fixture.person.asked[0]!.files).toMatchObject([{ before: null, hidden }]);
  });

  it.each([
    ['FileExists', 'a.txt', 'new'],
    ['InvalidPath', '../a.txt', 'new'],
    ['InvalidPath', 'link/a.txt', 'new'],
    ['DirectoryCreateFailed', 'a.txt/b', 'new'],
    ['TooLarge', 'b.txt', 'x'.repeat(101)],
  ])('answers %s for %s without asking', async (errorCode, path, content) => {
    fixture.more = { maxFileBytes: 100 };
    await write('a.txt', 'old');
    await symlink(fixture.folder, join(fixture.folder, 'link'));
    const outcome = await run(createOf('1', { path, content }));
    expect(resultOf(outcome)).toMatchObject({ success: false, errorCode, path });
    expect([outcome.approval, fixture.person.asked]).toEqual([null, []]);
    expect(fixture.executed).toMatchObject([{ success: false, errorCode }]);
  });

  it('uploads the written file under its name on disk', async () => {
    await run(createOf('1', { path: 'Src/A.txt', content: 'one\r\n' }));
    await run(createOf('2', { path: 'Src/A.txt', content: 'two\n', overwrite: true }));
    const path = `/${basename(fixture.folder)}/Src/A.txt`;
    const upload = (callId: string, text: string, baseSha256: string | null) => ({
      ...{ callId, path, docPath: path.slice(1).toLowerCase(), filePatchId: null },
      ...{ content: Buffer.from(text), sha256: sha256(text), baseSha256 },
    });
    expect(fixture.uploads).toEqual([upload('1', 'one\n', null), upload('2', 'two\n', sha256('one\n'))]);
    expect(fixture.warnings).toEqual([]);
  });

  it('succeeds with a warning if the upload is refused', async () => {
    fixture.answerPut = () => ({ ok: false, error: { code: 'STALE', message: 'Moved on.' } });
    const outcome = await run(createOf('1', { path: 'a.txt', content: 'x' }));
    expect(resultOf(outcome)).toMatchObject({ success: true });
    expect(fixture.warnings).toEqual(['a.txt: It did not become the new Cloud file (STALE): Moved on.']);
  });

  it('writes and logs nothing if the call is denied', async () => {
    fixture.person.answer = () => ({ decision: 'deny', note: 'no' });
    const outcome = await run(createOf('1', { path: 'd/a.txt', content: 'x' }));
    expect(outcome).toMatchObject({ result: null, approval: { decision: 'deny', note: 'no' } });
    expect([await readdir(fixture.folder), fixture.executed]).toEqual([[], []]);
  });

  it("writes the user's edit", async () => {
    fixture.person.answer = ({ edit }) => ({ decision: 'edit', ...edit!(['edited\n']) });
    const outcome = await run(createOf('1', { path: 'a.txt', content: 'x' }));
    expect(await read('a.txt')).toBe('edited\n');
    expect(resultOf(outcome).hash).toBe(contentHash('edited\n'));
    expect(outcome.approval!.editedArguments).toEqual({ path: 'a.txt', content: 'edited\n' });
  });

  it('writes nothing if the call ends before the decision', async () => {
    fixture.person.answer = (_request, signal) => rejectionOf(signal);
    const call = createOf('1', { path: 'a.txt', content: 'x' });
    await expect(run(call, tool(), AbortSignal.timeout(20))).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(await readdir(fixture.folder)).toEqual([]);
  });

  it('writes nothing if the server rejects the start', async () => {
    fixture.onStart = () => new Promise((_, reject) => setImmediate(reject, new Error('Not yours.')));
    await expect(run(createOf('1', { path: 'a.txt', content: 'x' }))).rejects.toThrow('Not yours.');
    expect(await readdir(fixture.folder)).toEqual([]);
  });

  it('keeps the order of calls on one path, in whichever order the user answers', async () => {
    const handler = tool();
    fixture.person.answer = async ({ call }) => {
      if (call.callId === '1') await new Promise((resolve) => setTimeout(resolve, 30));
      return {};
    };
    const [first, second] = await Promise.all([
      run(createOf('1', { path: 'a.txt', content: 'first' }), handler),
      run(createOf('2', { path: 'a.txt', content: 'second', overwrite: true }), handler),
    ]);
    expect([resultOf(first).created, resultOf(second).overwritten]).toEqual([true, true]);
    expect(await read('a.txt')).toBe('second');
  });

  it('keeps the order of calls if one between them is cancelled', async () => {
    const handler = tool();
    let open!: () => void;
    const gate = new Promise<void>((resolve) => (open = resolve));
    fixture.person.answer = async ({ call }) => {
      if (call.callId === '1') await gate;
      return {};
    };
    const first = run(createOf('1', { path: 'a.txt', content: 'first' }), handler);
    const cancelled = run(createOf('2', { path: 'a.txt', content: 'x' }), handler, AbortSignal.timeout(20));
    const third = run(createOf('3', { path: 'a.txt', content: 'third' }), handler);
    await expect(cancelled).rejects.toMatchObject({ name: 'TimeoutError' });
    open();
    expect(resultOf(await first)).toMatchObject({ created: true });
    expect(resultOf(await third)).toMatchObject({ errorCode: 'FileExists' });
  });

  it.each<[string, Approval | null, string]>([
    ['before its start', null, 'An unexpected error; nothing was written.'],
    ['after its start', allow, 'An unexpected error; look at the file before you try again.'],
  ])('reports and logs an unexpected failure %s', async (_when, approval, message) => {
    const result = await fixture.failureOf(createOf('1', { path: 'src\\a.txt', content: 'x' }), approval);
    expect(result).toEqual({
      ...{ success: false, errorCode: 'UnhandledException', message, path: 'src/a.txt' },
      docPath: `${fixture.root}/src/a.txt`,
      ...{ sizeBytes: 0, hash: '', created: false, overwritten: false },
    });
    expect(fixture.executed).toMatchObject([{ success: false, errorCode: 'UnhandledException' }]);
  });

  it('reports an unexpected failure of a call without arguments in the schema of its result', async () => {
    expect(await fixture.failureOf(createOf('1', {}), null)).toMatchObject({ path: '' });
  });

  it('reports and uploads a file that was written before a crash, without writing it again', async () => {
    await fixture.journal.receive(createOf('1', { path: 'a.txt', content: 'x' }));
    await fixture.journal.start('1', allow);
    // The file is written, and the client is killed before the journal has the result.
    await recover();
    [fixture.executed, fixture.uploads] = [[], []];
    await restart();
    expect(fixture.journal.get('1')).toMatchObject({ settled: { result: { success: true, created: true } } });
    expect(resultOf(await recover())).toMatchObject({ success: true, created: true });
    expect(fixture.uploads).toMatchObject([{ callId: '1', content: Buffer.from('x'), baseSha256: null }]);
    expect(fixture.executed).toMatchObject([
      { event: 'Tool.CreateFile.Executed', callId: '1', success: true },
    ]);
  });
});
