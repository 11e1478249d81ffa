import * as disk from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { openDiskJournal } from '@patchbay/client/home';
import { type CallContext, type Journal, RelayClient } from '@patchbay/client/relay';
import type { Approval, CreateFileResult, ToolCallDelivery } from '@patchbay/protocol';
import { contentHash } from '@patchbay/protocol/hash';

import { executeCreateFile } from '../create-file/execute-create-file.js';
import { sha256ToReplace } from '../create-file/preview-create-file.js';
import type { WorkspaceContext } from '../disk/workspace-context.js';
import { type FileSystem, realFileSystem } from '../disk/file-system.js';
import { WorkspaceRoots } from '../disk/workspace-roots.js';
import type { Approver } from '../approval/approver.js';
import { CreateFileTool } from './create-file-tool.js';

const approval: Approval = { decision: 'allow', by: 'ada', at: '2026-01-01T00:00:00.000Z' };
const forever = new Promise<never>(() => {});

/** All that a settled call needs of the client. */
const contextOf = (journal: Journal): CallContext => ({
  signal: new AbortController().signal,
  writeLog: journal.writeLog('c1'),
  awaitApproval: () => Promise.reject(new Error('Nobody is asked again.')),
  start: () => Promise.reject(new Error('It has started.')),
  putFile: async () => ({ ok: true, versionId: 'v', fileId: 'f', path: '/p/f' }),
});
const nobody: Approver = { decide: () => Promise.reject(new Error('Nobody is here.')) };

describe('a client that was killed while it ran a create', () => {
  let base: string;
  let root: string;
  let context: WorkspaceContext;
  beforeEach(async () => {
    base = await disk.realpath(await disk.mkdtemp(join(tmpdir(), 'patchbay-recover-')));
    root = join(base, 'root');
    await disk.mkdir(root);
    context = { roots: await WorkspaceRoots.open([{ directory: root }]) };
  });
  afterEach(async () => {
    await bury();
    await disk.rm(base, { recursive: true, force: true });
  });

  /** What the processes of a test hold open. A kill gives it back; here the test must. */
  const held: { close(): Promise<void> }[] = [];
  const bury = () => Promise.all(held.splice(0).map((each) => each.close()));
  const hold = <T extends { close(): Promise<void> }>(each: T): T => {
    held.push(each);
    return each;
  };
  const real: FileSystem = {
    ...realFileSystem,
    open: async (...args) => hold(await realFileSystem.open(...args)),
  };
  const home = () => join(base, 'home');
  const callOf = (args: ToolCallDelivery['arguments']): ToolCallDelivery => ({
    callId: 'c1',
    attempt: 1,
    toolCallId: 't1',
    sessionId: 's1',
    conversationId: 'v1',
    turnId: 'u1',
    name: 'workspace_create_file',
    arguments: args,
    deadlines: { deliveryAt: null, approvalAt: null, executionAt: null },
  });
  const run = async (journal: Journal, fs?: FileSystem): Promise<void> => {
    const args = journal.get('c1')!.call!.arguments;
    const result = await executeCreateFile({ ...context, ...(fs && { fs }) }, args, journal.writeLog('c1'));
    await journal.finish('c1', { result: { ...result }, approval, executionMs: 1 });
  };
  /** Runs the call until its disk stops answering; what is on disk then is what a kill -9 leaves. */
  const runUntilKilled = async (call: ToolCallDelivery, fs: FileSystem, killed: Promise<void>) => {
    const journal = hold(await openDiskJournal(home()));
    await journal.receive(call);
    await journal.start('c1', approval, { seen: await sha256ToReplace(context, call.arguments) });
    await Promise.race([run(journal, fs), killed]);
  };
  const restart = async () => {
    const journal = hold(await openDiskJournal(home()));
    await clientOf(journal).settle();
    return journal;
  };
  const tool = () => new CreateFileTool(context, nobody);
  /** What of a client needs no connection. */
  const clientOf = (journal: Journal) =>
    new RelayClient({
      ...{ url: 'http://127.0.0.1:9', token: '', workspaceId: 'w', clientId: 'c', journal },
      tools: { workspace_create_file: tool() },
      onWarning: (message) => {
        throw new Error(message);
      },
    });
  /** As the client does once it is connected. */
  const carryOn = async (journal: Journal) => {
    const entry = journal.get('c1')!;
    const { result, approval = null } = await tool().recover(entry.call!, contextOf(journal), entry);
    await journal.finish('c1', { result, approval, executionMs: 1 });
  };
  const isSettled = (journal: Journal) => journal.get('c1')!.settled !== null;
  const result = (journal: Journal) => {
    const { settled, result } = journal.get('c1')!;
    return (settled?.result ?? result) as unknown as CreateFileResult;
  };
  const tree = async () => (await disk.readdir(root, { recursive: true })).sort();

  /** Stops at the `moment`th call, before or after doing it, and counts how often the file was put in its place. */
  function dyingDisk(moment: number, doesIt: boolean) {
    let calls = 0;
    let die = () => {};
    const killed = new Promise<void>((resolve) => (die = resolve));
    const stop = () => {
      die();
      return forever;
    };
    const effects = { count: 0 };
    const wrap =
      <A extends unknown[], R>(call: (...args: A) => Promise<R>, isEffect = false) =>
      async (...args: A): Promise<R> => {
        const isLast = calls++ === moment;
        if (calls > moment + 1) return stop();
        if (isLast && !doesIt) return stop();
        const answer = call(...args).then((value) => {
          if (isEffect) effects.count++;
          return value;
        });
        return isLast ? answer.then(stop, stop) : answer;
      };
    const torn = wrap(async () => {});
    const fs: FileSystem = {
      ...real,
      open: wrap(async (path, flags, mode) => {
        const handle = (await real.open(path, flags, mode)) as disk.FileHandle;
        handle.writeFile = wrap(async (bytes) => {
          await handle.write(bytes as Buffer, 0, 2);
          await torn();
          await handle.write(bytes as Buffer, 2);
        });
        return handle;
      }),
      lstat: wrap(real.lstat),
      mkdir: wrap(real.mkdir),
      link: wrap(real.link, true),
      rename: wrap(real.rename, true),
      unlink: wrap(real.unlink),
    };
    return { fs, killed, effects, wasKilled: () => calls > moment };
  }

  it.each([
    ['a new file', false, null],
    ['a replacement', true, 'old'],
    ['a replacement by the same', true, 'new'],
  ])('ends with its effect once, whatever the moment: %s', async (_what, overwrite, before) => {
    let moments = 0;
    for (const doesIt of [false, true]) {
      for (let moment = 0; moment < 60; moment++) {
        await disk.rm(home(), { recursive: true, force: true });
        await disk.rm(root, { recursive: true });
        await disk.mkdir(join(root, 'd'), { recursive: true });
        const path = before === null ? 'd/e/f' : 'd/f';
        if (before !== null) await disk.writeFile(join(root, path), before);
        const { fs, killed, effects, wasKilled } = dyingDisk(moment, doesIt);
        await runUntilKilled(callOf({ path, content: 'new', overwrite }), fs, killed);
        if (!wasKilled()) break;
        moments++;

        const journal = await restart();
        if (before !== 'new') {
          expect([moment, isSettled(journal)]).toEqual([moment, effects.count === 1]);
        }
        await carryOn(journal);
        expect(result(journal)).toEqual({
          success: true,
          message: overwrite ? 'File overwritten.' : 'File created.',
          path,
          docPath: `root/${path}`,
          sizeBytes: 3,
          hash: contentHash('new'),
          created: !overwrite,
          overwritten: overwrite,
          errorCode: null,
        });
        expect(journal.entries()).toMatchObject([{ callId: 'c1', state: 'succeeded', approval }]);
        expect(await disk.readFile(join(root, path), 'utf8')).toBe('new');
        expect(await tree()).toEqual(before === null ? ['d', 'd/e', 'd/e/f'] : ['d', 'd/f']);
        await bury();
      }
    }
    expect(moments).toBeGreaterThan(15);
  });

  const killedBefore = async (step: 'link' | 'rename' | 'open', args: ToolCallDelivery['arguments']) => {
    let die = () => {};
    const killed = new Promise<void>((resolve) => (die = resolve));
    const stop = () => {
      die();
      return forever;
    };
    const open: FileSystem['open'] = (path, flags, mode) =>
      path.endsWith('.tmp') ? stop() : real.open(path, flags, mode);
    await runUntilKilled(
      callOf(args),
      { ...real, ...(step === 'open' ? { open } : { [step]: stop }) },
      killed,
    );
  };

  it('does not write over what someone changed since, and says that nothing was written', async () => {
    await disk.writeFile(join(root, 'f'), 'old');
    await killedBefore('rename', { path: 'f', content: 'new', overwrite: true });
    await disk.writeFile(join(root, 'f'), 'mine');
    const journal = await restart();
    expect(result(journal)).toMatchObject({ success: false, errorCode: 'WriteFailed' });
    expect(result(journal).message).toContain('nothing was written, and the file has changed since');
    expect([await disk.readFile(join(root, 'f'), 'utf8'), await tree()]).toEqual(['mine', ['f']]);
  });

  it('does not run a create again whose file was written and then removed', async () => {
    let die = () => {};
    const killed = new Promise<void>((resolve) => (die = resolve));
    const unlink: FileSystem['unlink'] = async (path) => {
      await real.unlink(path);
      die();
      return forever;
    };
    await runUntilKilled(callOf({ path: 'f', content: 'new' }), { ...real, unlink }, killed);
    await disk.unlink(join(root, 'f'));
    const journal = await restart();
    await carryOn(journal);
    expect(journal.entries()).toMatchObject([
      { state: 'failed', result: { success: false, errorCode: 'WriteFailed' } },
    ]);
    expect(await tree()).toEqual([]);
  });

  it('stays undecided about nothing through a second kill, right after the first restart', async () => {
    await killedBefore('link', { path: 'f', content: 'new' });
    await (await restart()).close();
    const journal = await restart();
    expect([isSettled(journal), await tree()]).toEqual([false, []]);
    await carryOn(journal);
    expect(result(journal)).toMatchObject({ success: true, created: true });
  });

  it('keeps what it found through a second kill, whatever becomes of the file meanwhile', async () => {
    let die = () => {};
    const killed = new Promise<void>((resolve) => (die = resolve));
    const unlink: FileSystem['unlink'] = () => {
      die();
      return forever;
    };
    await runUntilKilled(callOf({ path: 'f', content: 'new' }), { ...real, unlink }, killed);
    await (await restart()).close();
    await disk.writeFile(join(root, 'f'), 'mine');
    const journal = await restart();
    await carryOn(journal);
    expect(result(journal)).toMatchObject({ success: true, created: true, hash: contentHash('new') });
    expect([await disk.readFile(join(root, 'f'), 'utf8'), await tree()]).toEqual(['mine', ['f']]);
  });

  it('leaves what shows its end until that is in the journal', async () => {
    await killedBefore('link', { path: 'f', content: 'new' });
    const journal = hold(await openDiskJournal(home()));
    const seen: string[][] = [];
    const noted = async () => void seen.push(await tree());
    const context = { writeLog: journal.writeLog('c1'), ended: noted, notRun: noted };
    await tool().settle(callOf({}), context, journal.get('c1')!);
    expect([seen, await tree()]).toEqual([[[expect.stringMatching(/^\.patchbay-/)]], []]);
  });

  it('is not run in another folder than the one it was approved for', async () => {
    await killedBefore('open', { path: 'f', content: 'new' });
    await disk.mkdir(join(base, 'other'));
    context = { roots: await WorkspaceRoots.open([{ directory: join(base, 'other') }]) };
    const journal = await restart();
    expect(result(journal).message).toContain('no longer connected');
  });

  it('tells nothing of a place that is hidden by then [RELAY-25]', async () => {
    await killedBefore('link', { path: 'f', content: 'new' });
    await disk.writeFile(join(root, 'f'), 'private');
    await disk.writeFile(join(root, '.gitignore'), 'f\n');
    const journal = await restart();
    expect(result(journal)).toMatchObject({ success: false, errorCode: 'FORBIDDEN' });
    expect(result(journal).message).not.toContain('changed');
  });

  it('reports a failure where its place has become a link', async () => {
    await disk.mkdir(join(root, 'd'));
    await killedBefore('link', { path: 'd/f', content: 'new' });
    await disk.rename(join(root, 'd'), join(base, 'was-d'));
    await disk.symlink(join(base, 'was-d'), join(root, 'd'));
    const journal = await restart();
    expect(result(journal)).toMatchObject({
      success: false,
      path: 'd/f',
      errorCode: 'WriteFailed',
      hash: '',
    });
    expect(result(journal).message).not.toContain(base);
  });

  it('has nothing to settle for calls that had not started, had ended, or are of other tools', async () => {
    const first = hold(await openDiskJournal(home()));
    await first.receive(callOf({ path: 'f', content: 'new' }));
    await first.receive({ ...callOf({}), callId: 'c2', name: 'workspace_write_patch' });
    await first.start('c2', approval);
    const journal = await restart();
    expect(journal.all().map(({ state }) => state)).toEqual(['acknowledged', 'running']);
    expect(await tree()).toEqual([]);
  });
});
