import * as disk from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

import { type CallContext, Journal, RelayClient } from '@patchbay/client/relay';
import type { Approval, PatchBatch, ToolCallDelivery, WritePatchResult } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { parsePatchBatch } from '@patchbay/protocol/line-patch';

import { type FileSystem, realFileSystem } from '../disk/file-system.js';
import { WorkspaceRoots } from '../disk/workspace-roots.js';
import { executeWritePatch, type PatchContext } from '../write-patch/execute-write-patch.js';
import { toJson } from '../write-patch/write-patch-result.js';
import type { Approver } from './approver.js';
import { WritePatchTool } from './write-patch-tool.js';

const approval: Approval = {
  decision: 'allow',
  by: 'ada',
  at: '2026-01-01T00:00:00.000Z',
  rejectedChangeIds: ['f1c0'],
};
const forever = new Promise<never>(() => {});

/** All that a settled call needs of the client. */
const contextOf = (journal: Journal): CallContext => ({
  signal: new AbortController().signal,
  writeLog: journal.writeLog('c1'),
  awaitApproval: () => Promise.reject(new Error('Nobody is asked again.')),
  start: () => Promise.reject(new Error('It has started.')),
  putFile: async () => ({ ok: true, versionId: 'v', fileId: 'f' }),
});
const nobody: Approver = { decide: () => Promise.reject(new Error('Nobody is here.')) };
const errno = (code: string) => Object.assign(new Error(code), { code });
const NAMES = ['a', 'b', 'c', 'd'];
const OLD = ['a\n', 'b\n', 'c\n', 'd\n'];
/** The change of b is rejected. */
const NEW = ['a\nnew\n', 'b\n', 'c\nnew\n', 'd\nnew\n'];

function batch(): PatchBatch {
  const files = NAMES.map((name, index) => ({
    filePatchId: `f${index}`,
    docPath: `root/${name}`,
    originalSha256: sha256(`${name}\n`),
    changes: [{ changeId: `f${index}c0`, operation: 'insert', afterLine: 1, newLines: ['new'] }],
  }));
  const parsed = parsePatchBatch({ batchId: 'b', files }, { trusted: true });
  if (!parsed.ok) throw new Error('The batch is not sound.');
  return parsed.batch;
}

describe('a client that was killed while it ran a patch batch', () => {
  let base: string;
  let root: string;
  let context: PatchContext;
  beforeEach(async () => {
    base = await disk.realpath(await disk.mkdtemp(join(tmpdir(), 'patchbay-recover-patch-')));
    root = join(base, 'root');
    await fresh();
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
  const fresh = async () => {
    await disk.rm(home(), { recursive: true, force: true });
    await disk.rm(root, { recursive: true, force: true });
    await disk.mkdir(root);
    for (const name of NAMES) await disk.writeFile(join(root, name), `${name}\n`, { mode: 0o640 });
  };
  const contents = () => Promise.all(NAMES.map((name) => disk.readFile(join(root, name), 'utf8')));
  const write = (name: string, text: string) => disk.writeFile(join(root, name), text);
  const delivery = (): ToolCallDelivery => ({
    ...{ callId: 'c1', attempt: 1, toolCallId: 't1', sessionId: 's1', conversationId: 'v1', turnId: 'u1' },
    name: 'workspace_write_patch',
    arguments: {},
    deadlines: { deliveryAt: null, approvalAt: null, executionAt: null },
    batch: batch(),
  });
  const run = async (journal: Journal, fs?: FileSystem): Promise<void> => {
    const log = journal.writeLog('c1');
    const result = await executeWritePatch({ ...context, ...(fs && { fs }) }, batch(), approval, log);
    await journal.finish('c1', { result: toJson(result), approval, executionMs: 1 });
  };
  /** Runs the call until its disk stops answering; what is on disk then is what a kill -9 leaves. */
  const runUntilKilled = async (fs: FileSystem, killed: Promise<void>) => {
    const journal = hold(await Journal.open(home()));
    await journal.receive(delivery());
    await journal.start('c1', approval);
    await Promise.race([run(journal, fs), killed]);
  };
  const restart = async () => {
    const journal = hold(await Journal.open(home()));
    await clientOf(journal).settle();
    return journal;
  };
  const tool = () => new WritePatchTool(context, nobody);
  /** What of a client needs no connection. */
  const clientOf = (journal: Journal) =>
    new RelayClient({
      ...{ url: 'http://127.0.0.1:9', token: '', workspaceId: 'w', clientId: 'c', journal },
      tools: { workspace_write_patch: tool() },
      onWarning: (message) => warnings.push(message),
    });
  const warnings: string[] = [];
  /** As the client does once it is connected. */
  const carryOn = async (journal: Journal): Promise<WritePatchResult> => {
    expect(warnings).toEqual([]);
    const entry = journal.get('c1')!;
    const { result, approval = null } = await tool().recover(entry.call!, contextOf(journal), entry);
    await journal.finish('c1', { result, approval, executionMs: 1 });
    return result as unknown as WritePatchResult;
  };
  const statuses = ({ files }: WritePatchResult) => files.map(({ status }) => status);

  /** Stops at the `moment`th call, before or after doing it. */
  function dyingDisk(moment: number, doesIt: boolean, faults: Partial<FileSystem> = {}) {
    const below = { ...real, ...faults };
    let calls = 0;
    let die = () => {};
    const killed = new Promise<void>((resolve) => (die = resolve));
    const stop = () => {
      die();
      return forever;
    };
    const wrap =
      <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
      (...args: A): Promise<R> => {
        const isLast = calls++ === moment;
        if (calls > moment + 1 || (isLast && !doesIt)) return stop();
        return isLast ? call(...args).then(stop, stop) : call(...args);
      };
    const torn = wrap(async () => {});
    const fs: FileSystem = {
      ...below,
      open: wrap(async (path, flags, mode) => {
        const handle = (await below.open(path, flags, mode)) as disk.FileHandle;
        handle.writeFile = wrap(async (bytes) => {
          await handle.write(bytes as Buffer, 0, 2);
          await torn();
          await handle.write(bytes as Buffer, 2);
        });
        return handle;
      }),
      link: wrap(below.link),
      rename: wrap(below.rename),
      unlink: wrap(below.unlink),
    };
    return { fs, killed, wasKilled: () => calls > moment };
  }

  /** Every moment at which a kill can leave something behind: those before the first temp file are all alike. */
  const atEveryMoment = async (faults: Partial<FileSystem>, check: (moment: string) => Promise<void>) => {
    let moments = 0;
    for (const doesIt of [false, true]) {
      for (let moment = 0; ; moment++) {
        await fresh();
        const { fs, killed, wasKilled } = dyingDisk(moment, doesIt, faults);
        await runUntilKilled(fs, killed);
        if (!wasKilled()) break;
        moments++;
        await check(`${doesIt ? 'after' : 'before'} call ${moment}`);
        await bury();
      }
    }
    expect(moments).toBeGreaterThan(60);
  };

  it('ends with the whole batch written once, whatever the moment', async () => {
    await atEveryMoment({}, async (moment) => {
      const journal = await restart();
      const atRestart = await contents();
      expect([OLD.join(), NEW.join()]).toContain(atRestart.join());
      const result = await carryOn(journal);
      expect([moment, result.success, await contents()]).toEqual([moment, true, NEW]);
      expect(statuses(result)).toEqual(['applied', 'rejected', 'applied', 'applied']);
      expect(result.files[3]).toMatchObject({ newSha256: sha256('d\nnew\n') });
      expect(result.files[1]!.changes[0]).toMatchObject({ status: 'rejected' });
      expect([moment, (await disk.readdir(root)).sort()]).toEqual([moment, NAMES]);
      expect((await disk.stat(join(root, 'd'))).mode & 0o777).toBe(0o640);
    });
  }, 120_000);

  it('ends so without hard links too', async () => {
    const link = () => Promise.reject(errno('EPERM'));
    await atEveryMoment({ link }, async (moment) => {
      const result = await carryOn(await restart());
      expect([moment, result.success, await contents()]).toEqual([moment, true, NEW]);
      expect([moment, (await disk.readdir(root)).sort()]).toEqual([moment, NAMES]);
    });
  }, 120_000);

  it('ends with nothing or all of it written where the last file could not be, whatever the moment', async () => {
    const rename: FileSystem['rename'] = (from, to) =>
      basename(to) === 'd' ? Promise.reject(errno('EIO')) : real.rename(from, to);
    await atEveryMoment({ rename }, async (moment) => {
      const result = await carryOn(await restart());
      const after = await contents();
      expect([moment, [true, false]]).toEqual([moment, expect.arrayContaining([result.success])]);
      expect([moment, after]).toEqual([moment, result.success ? NEW : OLD]);
      if (!result.success) {
        expect(statuses(result)).toEqual(['skipped', 'rejected', 'skipped', 'failed']);
        expect(result.files[3]).toMatchObject({ errorCode: 'WriteFailed' });
      }
      expect([moment, (await disk.readdir(root)).sort()]).toEqual([moment, NAMES]);
    });
  }, 120_000);

  /** Killed before the file of that name is renamed into place. */
  const killedBefore = async (name: string) => {
    let die = () => {};
    const killed = new Promise<void>((resolve) => (die = resolve));
    const rename: FileSystem['rename'] = (from, to) => {
      if (basename(to) !== name) return real.rename(from, to);
      die();
      return forever;
    };
    await runUntilKilled({ ...real, rename }, killed);
  };
  const killedAfterAll = async () => {
    let die = () => {};
    const killed = new Promise<void>((resolve) => (die = resolve));
    const journal = hold(await Journal.open(home()));
    await journal.receive(delivery());
    await journal.start('c1', approval);
    const log = journal.writeLog('c1');
    let intended = 0;
    const intend: typeof log.intend = (intents) => {
      if (++intended === 1) return log.intend(intents);
      die();
      return forever;
    };
    const running = executeWritePatch({ ...context, fs: real }, batch(), approval, { ...log, intend });
    await Promise.race([running, killed]);
  };

  it('takes back what it wrote where a file that was still to be written has changed, which stays', async () => {
    await killedBefore('d');
    expect(await contents()).toEqual([NEW[0], 'b\n', NEW[2], 'd\n']);
    await write('d', 'mine\n');
    const journal = await restart();
    const result = await carryOn(journal);
    expect(journal.entries()).toMatchObject([{ state: 'failed', approval }]);
    expect(statuses(result)).toEqual(['skipped', 'rejected', 'skipped', 'conflict']);
    expect(result.files[3]!.message).toContain('The client was stopped');
    expect(await contents()).toEqual(['a\n', 'b\n', 'c\n', 'mine\n']);
    expect((await disk.readdir(root)).sort()).toEqual(NAMES);
  });

  it('takes back what it wrote where a file is gone', async () => {
    await killedBefore('d');
    await disk.rm(join(root, 'd'));
    const result = await carryOn(await restart());
    expect(result.files[3]).toMatchObject({ status: 'failed', errorCode: 'NOT_FOUND' });
    expect((await disk.readdir(root)).sort()).toEqual(['a', 'b', 'c']);
    expect(await disk.readFile(join(root, 'a'), 'utf8')).toBe('a\n');
  });

  it('leaves what someone changed after it was written, and says so', async () => {
    await killedBefore('d');
    await write('c', 'mine\n');
    const result = await carryOn(await restart());
    expect(statuses(result)).toEqual(['skipped', 'rejected', 'conflict', 'skipped']);
    expect(await contents()).toEqual(['a\n', 'b\n', 'mine\n', 'd\n']);
  });

  it('does not write a second time what someone put back', async () => {
    await killedAfterAll();
    expect(await contents()).toEqual(NEW);
    await write('a', 'a\n');
    const result = await carryOn(await restart());
    expect([result.success, statuses(result)]).toEqual([true, ['applied', 'rejected', 'applied', 'applied']]);
    expect(await contents()).toEqual(['a\n', 'b\n', NEW[2], NEW[3]]);
    expect((await disk.readdir(root)).sort()).toEqual(NAMES);
  });

  it('writes nothing where a file has changed before the first was written', async () => {
    await killedBefore('a');
    await write('c', 'mine\n');
    const result = await carryOn(await restart());
    expect(statuses(result)).toEqual(['skipped', 'rejected', 'conflict', 'skipped']);
    expect(await contents()).toEqual(['a\n', 'b\n', 'mine\n', 'd\n']);
  });

  it('makes a temp file again that was lost', async () => {
    await killedBefore('d');
    for (const name of await disk.readdir(root)) {
      const path = join(root, name);
      if (name.startsWith('.patchbay-') && (await disk.readFile(path, 'utf8')) === NEW[3])
        await disk.rm(path);
    }
    const result = await carryOn(await restart());
    expect([result.success, await contents()]).toEqual([true, NEW]);
  });

  it('is not undecided about anything through a second kill, right after the restart', async () => {
    await killedBefore('c');
    await (await restart()).close();
    const journal = await restart();
    expect(journal.get('c1')).toMatchObject({ state: 'running', settled: { result: { success: true } } });
    const result = await carryOn(journal);
    expect([result.success, await contents()]).toEqual([true, NEW]);
  });

  it('keeps what it found through a second kill, whatever becomes of the files meanwhile', async () => {
    await killedBefore('d');
    await write('d', 'mine\n');
    await (await restart()).close();
    await write('d', 'd\n');
    const result = await carryOn(await restart());
    expect(statuses(result)).toEqual(['skipped', 'rejected', 'skipped', 'conflict']);
    expect(await contents()).toEqual(OLD);
  });

  it('has nothing to settle for calls that had not started, and cannot where the delivery had no batch', async () => {
    const first = hold(await Journal.open(home()));
    await first.receive(delivery());
    await first.receive({ ...delivery(), callId: 'c2', batch: null });
    await first.start('c2', approval);
    const journal = await restart();
    expect(journal.all().map(({ state }) => state)).toEqual(['acknowledged', 'running']);
    expect(warnings.splice(0)).toEqual([
      'Call c2 of workspace_write_patch, which was interrupted, could not be settled: The delivery of call c2 has no patch batch.',
    ]);
    expect(await contents()).toEqual(OLD);
  });
});
