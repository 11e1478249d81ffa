import * as disk from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDiskJournal } from '@patchbay/client/home';
import { type CallContext, type Journal, RelayClient, type WriteLog } from '@patchbay/client/relay';
import type { Approval, Json, ToolCallDelivery } from '@patchbay/protocol';
import { type FileSystem, realFileSystem } from '../disk/file-system.js';
import { WorkspaceRoots } from '../disk/workspace-roots.js';
import type { PatchContext } from '../write-patch/execute-write-patch.js';
import type { CreateFileTool } from './create-file-tool.js';
import { Person } from './tool-fixture.sample.js';
import type { WritePatchTool } from './write-patch-tool.js';

/* A client that is killed during a call, for tests; not part of the build. */

type Effect = 'link' | 'rename';

/** What a settled call needs of the client: no question, no second start. */
const contextOf = (journal: Journal): CallContext => ({
  signal: new AbortController().signal,
  writeLog: journal.writeLog('c1'),
  awaitApproval: () => Promise.reject(new Error('The call was approved before.')),
  start: () => Promise.reject(new Error('The call was started before.')),
  putFile: async () => ({ ok: true, versionId: 'v', fileId: 'f', path: '/p/f' }),
});

/** `killed` resolves once `die` is called, whose caller never gets an answer. */
export function death() {
  let resolve = () => {};
  const killed = new Promise<void>((done) => (resolve = done));
  const die = (): Promise<never> => {
    resolve();
    return new Promise<never>(() => {});
  };
  return { killed, die };
}

/** A folder, the journal of a client, and its processes, which run call c1 one after the other. */
export abstract class KilledClient {
  base!: string;
  root!: string;
  context!: PatchContext;
  readonly warnings: string[] = [];
  protected readonly person = new Person();
  private readonly held: { close(): Promise<void> }[] = [];

  constructor(
    private readonly toolName: string,
    private readonly approval: Approval,
  ) {}

  abstract readonly tool: () => CreateFileTool | WritePatchTool;
  protected abstract readonly execute: (
    call: ToolCallDelivery,
    fs: FileSystem,
    log: WriteLog,
  ) => Promise<Json>;

  async open(): Promise<void> {
    this.base = await disk.realpath(await disk.mkdtemp(join(tmpdir(), 'patchbay-killed-')));
    this.root = join(this.base, 'root');
    await disk.mkdir(this.root);
    this.context = { roots: await WorkspaceRoots.open([{ directory: this.root }]) };
  }

  async close(): Promise<void> {
    await this.bury();
    await disk.rm(this.base, { recursive: true, force: true });
    expect([this.warnings.splice(0), this.person.asked]).toEqual([[], []]);
  }

  /** Closes what a killed process would have given back to the system. */
  readonly bury = () => Promise.all(this.held.splice(0).map((each) => each.close()));
  readonly hold = <T extends { close(): Promise<void> }>(each: T): T => {
    this.held.push(each);
    return each;
  };
  readonly real: FileSystem = {
    ...realFileSystem,
    open: async (...args) => this.hold(await realFileSystem.open(...args)),
  };
  readonly home = () => join(this.base, 'home');
  readonly openJournal = async () => this.hold(await openDiskJournal(this.home()));
  readonly tree = async () => (await disk.readdir(this.root, { recursive: true })).sort();
  readonly deliveryOf = (call: Pick<ToolCallDelivery, 'arguments' | 'batch'>): ToolCallDelivery => ({
    ...{ callId: 'c1', attempt: 1, toolCallId: 't1', sessionId: 's1', conversationId: 'v1', turnId: 'u1' },
    deadlines: { deliveryAt: null, approvalAt: null, executionAt: null },
    ...{ name: this.toolName, ...call },
  });

  readonly started = async (call: ToolCallDelivery, basis: Json = null): Promise<Journal> => {
    const journal = await this.openJournal();
    await journal.receive(call);
    await journal.start('c1', this.approval, basis);
    return journal;
  };
  /** Runs the call until its disk stops answering, which leaves the disk as a SIGKILL would. */
  readonly runUntilKilled = async (
    call: ToolCallDelivery,
    fs: FileSystem,
    killed: Promise<void>,
    basis: Json = null,
  ) => {
    const journal = await this.started(call, basis);
    const run = async () => {
      const result = await this.execute(call, fs, journal.writeLog('c1'));
      await journal.finish('c1', { result, approval: this.approval, executionMs: 1 });
    };
    await Promise.race([run(), killed]);
  };
  /** Restarts the client up to its connection. */
  readonly restart = async (): Promise<Journal> => {
    const journal = await this.openJournal();
    const client = new RelayClient({
      ...{ url: 'http://127.0.0.1:9', token: '', workspaceId: 'w', clientId: 'c', journal },
      tools: { [this.toolName]: this.tool() },
      onWarning: (message) => this.warnings.push(message),
    });
    await client.settle();
    return journal;
  };
  /** Continues the call, as the client does once it is connected. */
  protected readonly recover = async (journal: Journal): Promise<Json> => {
    const entry = journal.get('c1')!;
    const { result, approval = null } = await this.tool().recover(entry.call!, contextOf(journal), entry);
    await journal.finish('c1', { result, approval, executionMs: 1 });
    return result;
  };

  /** A disk that stops at the `moment`th call, before or after doing it; counts completed links and renames. */
  readonly dyingDisk = (
    moment: number,
    doesIt: boolean,
    faults: Partial<FileSystem> = {},
    also: readonly ('lstat' | 'mkdir')[] = [],
  ) => {
    const below = { ...this.real, ...faults };
    const { killed, die } = death();
    const effects = { count: 0 };
    let calls = 0;
    const wrap =
      <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
      (...args: A): Promise<R> => {
        const isLast = calls++ === moment;
        if (calls > moment + 1 || (isLast && !doesIt)) return die();
        return isLast ? call(...args).then(die, die) : call(...args);
      };
    const torn = wrap(async () => {});
    const counted = (name: Effect) =>
      wrap((from: string, to: string) => below[name](from, to).then(() => void (effects.count += 1)));
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
      ...Object.fromEntries(also.map((name) => [name, wrap<never[], unknown>(below[name] as never)])),
      ...{ link: counted('link'), rename: counted('rename'), unlink: wrap(below.unlink) },
    };
    return { fs, killed, effects, wasKilled: () => calls > moment };
  };
}
