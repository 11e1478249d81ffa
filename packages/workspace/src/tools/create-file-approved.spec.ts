import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Approval, CreateFileResult, JsonObject, ToolCallDelivery } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { openDiskJournal } from '@patchbay/client/home';
import type { CallContext, Journal, ToolOutcome } from '@patchbay/client/relay';
import type { ApprovalRequest } from '../approval/approver.js';
import { type FileSystem, realFileSystem } from '../disk/file-system.js';
import { WorkspaceRoots } from '../disk/workspace-roots.js';
import { CreateFileTool } from './create-file-tool.js';

const ALLOW: Approval = { decision: 'allow', by: 'ada', at: '2026-01-01T00:00:00.000Z' };

describe('an approval to overwrite [CREATE-5]', () => {
  let folder: string;
  let home: string;
  let file: string;
  let journal: Journal;
  let asked: ApprovalRequest[];
  let fs: FileSystem;
  /** What happens while the person decides, and what they say. */
  let decide: (nth: number, request: ApprovalRequest) => Promise<Approval>;
  /** What happens once the person has decided, before the server has confirmed. */
  let onStart: () => Promise<void>;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'patchbay-seen-'));
    home = await mkdtemp(join(tmpdir(), 'patchbay-seen-home-'));
    file = join(folder, 'a.txt');
    journal = await openDiskJournal(home);
    [asked, fs] = [[], realFileSystem];
    decide = async () => ALLOW;
    onStart = async () => undefined;
    await writeFile(file, 'seen\n');
  });
  afterEach(async () => {
    await journal.close();
    await rm(folder, { recursive: true });
    await rm(home, { recursive: true });
  });

  const call = (args: JsonObject): ToolCallDelivery => ({
    ...{ callId: '1', attempt: 1, toolCallId: 't', sessionId: 's', conversationId: 'c', turnId: 't' },
    ...{ name: 'workspace_create_file', arguments: args },
    deadlines: { deliveryAt: null, approvalAt: null, executionAt: null },
  });
  const overwrite = call({ path: 'a.txt', content: 'new\n', overwrite: true });
  const context: CallContext = {
    signal: new AbortController().signal,
    writeLog: { intend: async () => undefined, committing: async () => undefined },
    awaitApproval: async () => undefined,
    start: async (approval = null, basis = null) => {
      await onStart();
      await journal.start('1', approval, basis);
    },
    putFile: async () => ({ ok: true, versionId: 'v', fileId: 'f', path: '/p/f' }),
  };
  const tool = async () => {
    const roots = await WorkspaceRoots.open([{ directory: folder }]);
    return new CreateFileTool({ roots, fs }, { decide: (request) => decide(asked.push(request), request) });
  };
  const run = async (one = overwrite) => {
    await journal.receive(one);
    return (await tool()).run(one, context);
  };
  const onDisk = () => readFile(file, 'utf8');
  const resultOf = ({ result }: ToolOutcome) => result as unknown as CreateFileResult;
  const shown = () => asked.map(({ files }) => files[0]!.before);
  const saved = (text: string) => writeFile(file, text);

  it('is asked for again where somebody has saved the file meanwhile, and shows what is there now', async () => {
    decide = async (nth) => {
      if (nth === 1) await saved('saved meanwhile\n');
      return ALLOW;
    };
    expect(resultOf(await run())).toMatchObject({ success: true, overwritten: true });
    expect(shown()).toEqual(['seen\n', 'saved meanwhile\n']);
    expect(asked.map(({ note }) => note)).toEqual([undefined, expect.stringContaining('has changed since')]);
  });

  it('leaves the file as it is where the person, asked again, says no', async () => {
    decide = async (nth) => {
      if (nth === 1) await saved('mine\n');
      return nth === 1 ? ALLOW : { ...ALLOW, decision: 'deny' };
    };
    expect((await run()).approval).toMatchObject({ decision: 'deny' });
    expect(await onDisk()).toBe('mine\n');
  });

  it('keeps what the person has edited when it is asked for again', async () => {
    decide = async (nth, { edit }) => {
      if (nth === 2) return ALLOW;
      await saved('mine\n');
      return { ...ALLOW, decision: 'edit', ...edit!(['edited\n']) };
    };
    const outcome = await run();
    expect(outcome.approval).toMatchObject({ decision: 'edit', editedArguments: { content: 'edited\n' } });
    expect(asked[1]!.files[0]).toMatchObject({ before: 'mine\n', after: 'edited\n' });
    expect(await onDisk()).toBe('edited\n');
  });

  it('is not asked for without end where the file changes all the time, and replaces nothing then', async () => {
    decide = async (nth) => {
      await saved(`version ${nth}\n`);
      return ALLOW;
    };
    expect(resultOf(await run())).toMatchObject({ success: false, errorCode: 'FileExists' });
    expect(asked).toHaveLength(5);
    expect(await onDisk()).toBe('version 5\n');
  });

  it('does not count for what is saved between it and the write: the call fails and says so', async () => {
    onStart = () => saved('saved late\n');
    const result = resultOf(await run());
    expect(result).toMatchObject({ success: false, errorCode: 'FileExists' });
    expect(result.message).toContain('was changed after its replacement was approved');
    expect(await onDisk()).toBe('saved late\n');
  });

  it('does not count for what is saved while the new text is staged, until right before the rename', async () => {
    // As editors save: a new file in its place.
    const saveByRename = async () => {
      await writeFile(`${file}.tmp`, 'saved last\n');
      await rename(`${file}.tmp`, file);
    };
    let isStaged = false;
    fs = {
      ...realFileSystem,
      lstat: async (path) => {
        const stats = await realFileSystem.lstat(path);
        if (isStaged && path.endsWith('a.txt')) {
          isStaged = false;
          await saveByRename();
        }
        if (path.endsWith('.tmp')) isStaged = true;
        return stats;
      },
    };
    expect(resultOf(await run())).toMatchObject({ success: false, errorCode: 'FileExists' });
    expect(await onDisk()).toBe('saved last\n');
  });

  it('for a file that was not there is none for one that is there by now', async () => {
    await rm(file);
    onStart = () => saved('somebody was first\n');
    expect(resultOf(await run())).toMatchObject({ success: false, errorCode: 'FileExists' });
    expect(await onDisk()).toBe('somebody was first\n');
  });

  it('stands where the file has gone, or is already what is to be written', async () => {
    onStart = () => rm(file);
    expect(resultOf(await run())).toMatchObject({ success: true, created: true });
    onStart = () => saved('new\n');
    await saved('seen\n');
    await journal.forget(['1']);
    expect(resultOf(await run())).toMatchObject({ success: true, overwritten: true });
  });

  it('is bound to that file for a file too large to be shown, too', async () => {
    const roots = await WorkspaceRoots.open([{ directory: folder }]);
    await saved('x'.repeat(50));
    decide = async (nth) => {
      if (nth === 1) await saved('y'.repeat(50));
      return ALLOW;
    };
    const small = new CreateFileTool(
      { roots, maxFileBytes: 10 },
      { decide: (one) => decide(asked.push(one), one) },
    );
    await journal.receive(overwrite);
    await small.run(overwrite, context);
    expect(asked.map(({ files }) => files[0]!.hidden)).toEqual(['too_large', 'too_large']);
  });

  it('is in the journal with the file that was seen', async () => {
    await run();
    expect(journal.get('1')).toMatchObject({ approval: ALLOW, basis: { seen: sha256('seen\n') } });
  });

  it('is bound to it over a death of the client', async () => {
    await journal.receive(overwrite);
    await journal.start('1', ALLOW, { seen: sha256('seen\n') });
    await journal.close();
    await saved('saved while nothing ran\n');
    journal = await openDiskJournal(home);
    const outcome = await (await tool()).recover(overwrite, context, journal.get('1')!);
    expect(resultOf(outcome)).toMatchObject({ success: false, errorCode: 'FileExists' });
    expect(await onDisk()).toBe('saved while nothing ran\n');
  });
});
