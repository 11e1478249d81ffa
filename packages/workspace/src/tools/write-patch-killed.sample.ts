import * as disk from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

import { openDiskJournal } from '@patchbay/client/home';
import { type CallContext, type Journal, RelayClient } from '@patchbay/client/relay';
import type { Approval, PatchBatch, ToolCallDelivery, WritePatchResult } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { parsePatchBatch } from '@patchbay/protocol/line-patch';

import { type FileSystem, realFileSystem } from '../disk/file-system.js';
import { WorkspaceRoots } from '../disk/workspace-roots.js';
import { executeWritePatch, type PatchContext } from '../write-patch/execute-write-patch.js';
import { toJson } from '../write-patch/write-patch-result.js';
import type { Approver } from '../approval/approver.js';
import { WritePatchTool } from './write-patch-tool.js';

/* A patch batch that is killed in the middle, for tests; no part of the build. */

export const approval: Approval = {
  decision: 'allow',
  by: 'ada',
  at: '2026-01-01T00:00:00.000Z',
  rejectedChangeIds: ['f1c0'],
};
export const forever = new Promise<never>(() => {});

/** All that a settled call needs of the client. */
const contextOf = (journal: Journal): CallContext => ({
  signal: new AbortController().signal,
  writeLog: journal.writeLog('c1'),
  awaitApproval: () => Promise.reject(new Error('Nobody is asked again.')),
  start: () => Promise.reject(new Error('It has started.')),
  putFile: async () => ({ ok: true, versionId: 'v', fileId: 'f', path: '/p/f' }),
});
const nobody: Approver = { decide: () => Promise.reject(new Error('Nobody is here.')) };
export const errno = (code: string) => Object.assign(new Error(code), { code });
export const NAMES = ['a', 'b', 'c', 'd'];
export const OLD = ['a\n', 'b\n', 'c\n', 'd\n'];
/** The change of b is rejected. */
export const NEW = ['a\nnew\n', 'b\n', 'c\nnew\n', 'd\nnew\n'];

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

export const statuses = ({ files }: WritePatchResult) => files.map(({ status }) => status);

/** A folder, the journal of a client, and the processes of it that run the batch, one after another. */
export class KilledScene {
  root!: string;
  private base!: string;
  private context!: PatchContext;

  async open(): Promise<void> {
    this.base = await disk.realpath(await disk.mkdtemp(join(tmpdir(), 'patchbay-recover-patch-')));
    this.root = join(this.base, 'root');
    await this.fresh();
    this.context = { roots: await WorkspaceRoots.open([{ directory: this.root }]) };
  }

  async close(): Promise<void> {
    await this.bury();
    await disk.rm(this.base, { recursive: true, force: true });
  }

  /** What the processes of a test hold open. A kill gives it back; here the test must. */
  private readonly held: { close(): Promise<void> }[] = [];
  private readonly bury = () => Promise.all(this.held.splice(0).map((each) => each.close()));
  readonly hold = <T extends { close(): Promise<void> }>(each: T): T => {
    this.held.push(each);
    return each;
  };
  readonly real: FileSystem = {
    ...realFileSystem,
    open: async (...args) => this.hold(await realFileSystem.open(...args)),
  };
  readonly home = () => join(this.base, 'home');
  private readonly fresh = async () => {
    await disk.rm(this.home(), { recursive: true, force: true });
    await disk.rm(this.root, { recursive: true, force: true });
    await disk.mkdir(this.root);
    for (const name of NAMES) await disk.writeFile(join(this.root, name), `${name}\n`, { mode: 0o640 });
  };
  readonly contents = () => Promise.all(NAMES.map((name) => disk.readFile(join(this.root, name), 'utf8')));
  readonly write = (name: string, text: string) => disk.writeFile(join(this.root, name), text);
  readonly delivery = (): ToolCallDelivery => ({
    ...{ callId: 'c1', attempt: 1, toolCallId: 't1', sessionId: 's1', conversationId: 'v1', turnId: 'u1' },
    name: 'workspace_write_patch',
    arguments: {},
    deadlines: { deliveryAt: null, approvalAt: null, executionAt: null },
    batch: batch(),
  });
  private readonly run = async (journal: Journal, fs?: FileSystem): Promise<void> => {
    const log = journal.writeLog('c1');
    const result = await executeWritePatch({ ...this.context, ...(fs && { fs }) }, batch(), approval, log);
    await journal.finish('c1', { result: toJson(result), approval, executionMs: 1 });
  };
  /** Runs the call until its disk stops answering; what is on disk then is what a kill -9 leaves. */
  private readonly runUntilKilled = async (fs: FileSystem, killed: Promise<void>) => {
    const journal = this.hold(await openDiskJournal(this.home()));
    await journal.receive(this.delivery());
    await journal.start('c1', approval);
    await Promise.race([this.run(journal, fs), killed]);
  };
  readonly restart = async () => {
    const journal = this.hold(await openDiskJournal(this.home()));
    await this.clientOf(journal).settle();
    return journal;
  };
  readonly tool = () => new WritePatchTool(this.context, nobody);
  /** What of a client needs no connection. */
  private readonly clientOf = (journal: Journal) =>
    new RelayClient({
      ...{ url: 'http://127.0.0.1:9', token: '', workspaceId: 'w', clientId: 'c', journal },
      tools: { workspace_write_patch: this.tool() },
      onWarning: (message) => this.warnings.push(message),
    });
  readonly warnings: string[] = [];
  /** As the client does once it is connected. */
  readonly carryOn = async (journal: Journal): Promise<WritePatchResult> => {
    expect(this.warnings).toEqual([]);
    const entry = journal.get('c1')!;
    const { result, approval = null } = await this.tool().recover(entry.call!, contextOf(journal), entry);
    await journal.finish('c1', { result, approval, executionMs: 1 });
    return result as unknown as WritePatchResult;
  };

  /** Stops at the `moment`th call, before or after doing it. */
  private readonly dyingDisk = (moment: number, doesIt: boolean, faults: Partial<FileSystem> = {}) => {
    const below = { ...this.real, ...faults };
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
  };

  /** Every moment at which a kill can leave something behind: those before the first temp file are all alike. */
  readonly atEveryMoment = async (faults: Partial<FileSystem>, check: (moment: string) => Promise<void>) => {
    let moments = 0;
    for (const doesIt of [false, true]) {
      for (let moment = 0; ; moment++) {
        await this.fresh();
        const { fs, killed, wasKilled } = this.dyingDisk(moment, doesIt, faults);
        await this.runUntilKilled(fs, killed);
        if (!wasKilled()) break;
        moments++;
        await check(`${doesIt ? 'after' : 'before'} call ${moment}`);
        await this.bury();
      }
    }
    expect(moments).toBeGreaterThan(60);
  };

  /** Killed before the file of that name is renamed into place. */
  readonly killedBefore = async (name: string) => {
    let die = () => {};
    const killed = new Promise<void>((resolve) => (die = resolve));
    const rename: FileSystem['rename'] = (from, to) => {
      if (basename(to) !== name) return this.real.rename(from, to);
      die();
      return forever;
    };
    await this.runUntilKilled({ ...this.real, rename }, killed);
  };
  /** Killed while it takes back what it wrote, as `d` could not be: before the file of that name has its original. */
  readonly killedTakingBack = async (name: string) => {
    let die = () => {};
    const killed = new Promise<void>((resolve) => (die = resolve));
    let placed = false;
    const rename: FileSystem['rename'] = (from, to) => {
      if (basename(to) === 'd') return Promise.reject(errno('EIO'));
      if (basename(to) !== name || !placed) {
        placed ||= basename(to) === name;
        return this.real.rename(from, to);
      }
      die();
      return forever;
    };
    await this.runUntilKilled({ ...this.real, rename }, killed);
  };
  /** Killed when all is written and tidied up, and the journal does not have the result yet. */
  readonly killedBeforeItCouldSay = async () => {
    const journal = this.hold(await openDiskJournal(this.home()));
    await journal.receive(this.delivery());
    await journal.start('c1', approval);
    await executeWritePatch(this.context, batch(), approval, journal.writeLog('c1'));
  };
  readonly killedAfterAll = async () => {
    let die = () => {};
    const killed = new Promise<void>((resolve) => (die = resolve));
    const journal = this.hold(await openDiskJournal(this.home()));
    await journal.receive(this.delivery());
    await journal.start('c1', approval);
    const log = journal.writeLog('c1');
    let intended = 0;
    const intend: typeof log.intend = (intents) => {
      if (++intended === 1) return log.intend(intents);
      die();
      return forever;
    };
    const running = executeWritePatch({ ...this.context, fs: this.real }, batch(), approval, {
      ...log,
      intend,
    });
    await Promise.race([running, killed]);
  };
}
