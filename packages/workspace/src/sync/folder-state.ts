import { join } from 'node:path';
import { sha256 } from '@patchbay/protocol/hash';
import { ClientLock, ClientLockedError } from '@patchbay/client/home';
import { type FileStamp, isExecutable, isSettled } from './file-stamp.js';
import { StateFile, type StateText } from './state-file.js';
import {
  baseIn,
  contentIn,
  docPathIn,
  formatLine,
  hasBase,
  hasBaseAsContent,
  hasStamp,
  isNamesLine,
  isSentLine,
  isWholeLine,
  type Names,
  namesLine,
  parseLine,
  parseNamesLine,
  parseSentLine,
  sentLine,
  type StateLine,
  SYNCED_LINE,
  wasExecutable,
} from './state-line.js';

const UNREAD = { stamp: null, content: null, wasExecutable: false };
/** Most contents of one file that were sent, and of which nobody knows whether they arrived. */
const MAX_SENT = 8;

/** What a file held when it was read: it is written with whatever base its docPath has by then. */
interface Reading {
  docPath: string;
  stamp: FileStamp;
  content: string | null;
}

/** Which folder is synced with what. */
export interface SyncPair {
  url: string;
  workspaceId: string;
  /** Real path. */
  directory: string;
  rootName: string;
}

/**
 * The one state of a folder, which connect, push and pull share, in as many processes: what its files were when they were
 * read, so that they need not be read again, what both sides had when they were last the same, and what was sent without
 * an answer yet. The file has a line for each docPath, of which a later one replaces an earlier one; a line that a kill or
 * a power failure spoilt counts for none: the file is read again, and a base that is missing is asked of the Cloud.
 */
export class FolderState {
  private unsaved: (string | Reading)[] = [];
  private saving: Promise<void> = Promise.resolve();
  /** The line of each docPath. */
  private readonly known = new Map<string, StateLine>();
  /** What was sent of a docPath since its base was noted, and may have arrived. */
  private readonly sent = new Map<string, string[]>();
  /** How files are spelt, of which that is not as their docPath says. */
  private readonly names = new Map<string, Names>();
  private synced = false;

  private constructor(
    private readonly rootName: string,
    /** Short, and another for every pair. */
    readonly key: string,
    private readonly folder: string,
    private readonly file: StateFile,
  ) {}

  static open(home: string, { url, workspaceId, directory, rootName }: SyncPair): FolderState {
    const key = sha256(JSON.stringify([url, workspaceId, directory, rootName])).slice(0, 32);
    const folder = join(home, 'sync', key);
    const state = new FolderState(rootName, key.slice(0, 8), folder, new StateFile(folder));
    state.refresh();
    return state;
  }

  /**
   * Keeps a second push or pull of the folder out while `work` is done; a client that is connected goes on beside it.
   * @throws ClientLockedError, its message meant for the terminal.
   */
  async alone<T>(directory: string, work: () => Promise<T>): Promise<T> {
    const lock = await ClientLock.acquire(join(this.folder, 'command')).catch((error: unknown) => {
      if (!(error instanceof ClientLockedError)) throw error;
      throw new ClientLockedError(`Process ${error.pid} is syncing ${directory} at this moment.`, error.pid);
    });
    try {
      return await work();
    } finally {
      await lock.release();
    }
  }

  /** Takes in what other processes have noted since. */
  refresh(): void {
    this.absorb(this.file.read());
  }

  /** Whether a push or pull has gone through the whole folder: its new files are the Cloud's, too. */
  get isSynced(): boolean {
    return this.synced;
  }

  /** A push or pull has gone through the whole folder. */
  noteSynced(): void {
    if (this.synced) return;
    this.synced = true;
    this.unsaved.push(SYNCED_LINE);
  }

  /** Whether the file has not been touched since it was read, and holds what both sides last had. */
  isUnchanged(docPath: string, stamp: FileStamp): boolean {
    const line = this.known.get(docPath);
    if (line === undefined || !hasBaseAsContent(line) || !hasStamp(line, docPath, stamp)) return false;
    return wasExecutable(line) === isExecutable(stamp);
  }

  /** What the file holds, where it has not been touched since it was read: undefined where it has to be read. */
  contentOf(docPath: string, stamp: FileStamp): string | null | undefined {
    const line = this.known.get(docPath);
    return line === undefined ? undefined : contentIn(line, docPath, stamp);
  }

  /** What both sides had when they were last the same; null where they never were. */
  baseOf(docPath: string): string | null {
    const line = this.known.get(docPath);
    return line === undefined ? null : baseIn(line);
  }

  /** Whether the file was executable when both sides last had the base, as far as is known. */
  wasExecutable(docPath: string): boolean {
    const line = this.known.get(docPath);
    return line !== undefined && wasExecutable(line);
  }

  /** How a file was spelt on both sides when they were last the same. */
  namesOf(docPath: string): Names {
    const known = this.names.get(docPath);
    if (known !== undefined) return known;
    const here = docPath.slice(docPath.indexOf('/') + 1);
    return { here, there: `/${this.rootName}/${here}` };
  }

  cloudPathOf(docPath: string): string {
    return this.namesOf(docPath).there;
  }

  /** Whether that is how the file was spelt here. */
  isSpelt(docPath: string, path: string): boolean {
    return (this.names.get(docPath)?.here ?? docPath.slice(docPath.indexOf('/') + 1)) === path;
  }

  /** Those of the files that are spelt otherwise than their docPath says. */
  get spellings(): Iterable<Names> {
    return this.names.values();
  }

  noteNames(docPath: string, names: Names): void {
    const { here, there } = this.namesOf(docPath);
    const line = namesLine(docPath, names);
    if ((here === names.here && there === names.there) || !isNamesLine(line)) return;
    this.names.set(docPath, names);
    this.unsaved.push(line);
  }

  /** How many docPaths have a base. */
  get baseCount(): number {
    let count = 0;
    for (const line of this.known.values()) if (hasBase(line)) count += 1;
    return count;
  }

  /** Every docPath that both sides had, with its base. */
  *bases(): Generator<[docPath: string, sha256: string]> {
    for (const [docPath, line] of this.known) {
      const base = baseIn(line);
      if (base !== null) yield [docPath, base];
    }
  }

  /** Whether this folder has put the content there itself: as its base, or by sending it without hearing of it again. */
  isOwn(docPath: string, content: string): boolean {
    return this.baseOf(docPath) === content || (this.sent.get(docPath)?.includes(content) ?? false);
  }

  /** Keeps what was read, unless a change at this very moment would not show. */
  noteContent(docPath: string, stamp: FileStamp, content: string | null, now = Date.now()): void {
    const reading = { docPath, stamp, content };
    if (isSettled(stamp, now) && this.noteLine(docPath, this.lineOf(reading))) this.unsaved.push(reading);
  }

  /** The content is about to be sent. Save before it is: a crash before the answer must not make it another's. */
  noteSent(docPath: string, content: string): void {
    const sent = this.sent.get(docPath) ?? [];
    if (sent.includes(content) || this.baseOf(docPath) === content) return;
    const line = sentLine(docPath, content);
    if (!isSentLine(line)) return;
    this.sent.set(docPath, [...sent, content].slice(-MAX_SENT));
    this.unsaved.push(line);
  }

  /** Both sides have this now, null: neither has the file. Its mode is as it was where none is given. */
  noteBase(docPath: string, base: string | null, executable = this.wasExecutable(docPath)): void {
    const isSameMode = base === null || this.wasExecutable(docPath) === executable;
    if (isSameMode && this.baseOf(docPath) === base) return this.settleSent(docPath);
    const line = this.known.get(docPath);
    const { stamp, content } = line === undefined ? UNREAD : parseLine(line);
    const based = formatLine(docPath, { stamp, content, base, wasExecutable: executable });
    if (this.noteLine(docPath, based)) this.unsaved.push(based);
  }

  /** The same, of a file that is spelt like this on both sides: that is kept where they never were the same before. */
  noteSame(docPath: string, base: string, names: Names, executable?: boolean): void {
    if (this.baseOf(docPath) === null) this.noteNames(docPath, names);
    this.noteBase(docPath, base, executable);
  }

  /** What was sent on the way to the base that stands again is over. */
  private settleSent(docPath: string): void {
    if (this.sent.delete(docPath)) this.unsaved.push(sentLine(docPath, null));
  }

  /** What was noted survives a kill of the process from here on. Where it fails, it is tried again with the next. */
  save(): Promise<void> {
    const saved = this.saving.then(() => this.write());
    this.saving = saved.catch(() => undefined);
    return saved;
  }

  private async write(): Promise<void> {
    const { length } = this.unsaved;
    if (length === 0) return;
    await this.file.append(
      (found) => this.absorb(found),
      () => this.unsaved.slice(0, length).map((each) => this.lineOf(each)),
      () => this.snapshot(),
    );
    this.unsaved.splice(0, length);
  }

  /** What others have noted; what was noted here since counts more, and is written behind it. */
  private absorb({ text, isNew }: StateText): void {
    if (isNew) {
      this.known.clear();
      this.sent.clear();
      this.names.clear();
      this.synced = false;
    }
    for (const line of text.split('\n')) this.replay(line);
    if (text !== '' || isNew) for (const each of this.unsaved) this.replay(this.lineOf(each));
  }

  private replay(line: string): void {
    if (line === SYNCED_LINE) this.synced = true;
    else if (isSentLine(line)) {
      const { docPath, content } = parseSentLine(line);
      if (content === null) this.sent.delete(docPath);
      else this.sent.set(docPath, [...(this.sent.get(docPath) ?? []), content].slice(-MAX_SENT));
    } else if (isNamesLine(line)) {
      const { docPath, ...names } = parseNamesLine(line);
      this.names.set(docPath, names);
    } else if (isWholeLine(line)) this.remember(docPathIn(line), line);
  }

  /** A new base settles what was sent before. */
  private remember(docPath: string, line: StateLine): void {
    if (this.sent.size > 0 && this.baseOf(docPath) !== baseIn(line)) this.sent.delete(docPath);
    this.known.set(docPath, line);
  }

  /** Whether it may be written: a docPath that would spoil the file is not remembered. */
  private noteLine(docPath: string, line: string): boolean {
    if (!isWholeLine(line)) return false;
    this.remember(docPath, line);
    return true;
  }

  /** Of a reading with the base of this moment: another process may have noted one since, which it must not take back. */
  private lineOf(unsaved: string | Reading): string {
    if (typeof unsaved === 'string') return unsaved;
    const { docPath, stamp, content } = unsaved;
    const [base, mode] = [this.baseOf(docPath), this.wasExecutable(docPath)];
    return formatLine(docPath, { stamp, content, base, wasExecutable: mode });
  }

  /** Without what is not in use any more: neither side has it. */
  private snapshot(): string[] {
    const used = [...this.known.values()].filter((line) => parseLine(line).stamp !== null || hasBase(line));
    const sent = [...this.sent].flatMap(([docPath, all]) => all.map((content) => sentLine(docPath, content)));
    const names = [...this.names]
      .filter(([docPath]) => this.baseOf(docPath) !== null)
      .map(([docPath, both]) => namesLine(docPath, both));
    return [...(this.synced ? [SYNCED_LINE] : []), ...used, ...sent, ...names];
  }
}
