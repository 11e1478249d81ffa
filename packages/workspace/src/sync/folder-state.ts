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
/** Most unconfirmed contents that are remembered per file. */
const MAX_SENT = 8;

/** The content of a file when it was read. It is written with the base that its docPath has at that time. */
interface Reading {
  docPath: string;
  stamp: FileStamp;
  content: string | null;
}

/** A folder and the workspace that it is synced with. */
export interface SyncPair {
  url: string;
  workspaceId: string;
  /** Real path. */
  directory: string;
  rootName: string;
}

/**
 * The sync state of a folder, shared by the processes that connect, push and pull. It has the content of each file
 * when last read (to avoid reading it again), the content that both sides last had, and contents that were sent
 * without an answer. The file has a line per docPath; later lines replace earlier ones. A line damaged by a crash is
 * ignored: the file is read again, and the Cloud is asked for a missing base.
 */
export class FolderState {
  private unsaved: (string | Reading)[] = [];
  private saving: Promise<void> = Promise.resolve();
  private readonly known = new Map<string, StateLine>();
  /** Contents that were sent since the base was recorded, and may have arrived. */
  private readonly sent = new Map<string, string[]>();
  /** Spellings that differ from the docPath. */
  private readonly names = new Map<string, Names>();
  private synced = false;

  private constructor(
    private readonly rootName: string,
    /** Short, and unique per pair. */
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
   * Runs `work` while no other push or pull of the folder runs. A connected client is not blocked.
   * @throws ClientLockedError with a message for the terminal
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

  /** Reads what other processes have written since. */
  refresh(): void {
    this.merge(this.file.read());
  }

  /** Whether a push or pull has covered the whole folder. Only then are new files synced, too. */
  get isSynced(): boolean {
    return this.synced;
  }

  noteSynced(): void {
    if (this.synced) return;
    this.synced = true;
    this.unsaved.push(SYNCED_LINE);
  }

  /** Whether the file has not changed since it was read, and holds the base. */
  isUnchanged(docPath: string, stamp: FileStamp): boolean {
    const line = this.known.get(docPath);
    if (line === undefined || !hasBaseAsContent(line) || !hasStamp(line, docPath, stamp)) return false;
    return wasExecutable(line) === isExecutable(stamp);
  }

  /** The content of a file that has not changed since it was read; undefined if it must be read. */
  contentOf(docPath: string, stamp: FileStamp): string | null | undefined {
    const line = this.known.get(docPath);
    return line === undefined ? undefined : contentIn(line, docPath, stamp);
  }

  /** The content that both sides last had; null if they never were the same. */
  baseOf(docPath: string): string | null {
    const line = this.known.get(docPath);
    return line === undefined ? null : baseIn(line);
  }

  /** Whether the base was executable, as far as known. */
  wasExecutable(docPath: string): boolean {
    const line = this.known.get(docPath);
    return line !== undefined && wasExecutable(line);
  }

  /** The spelling on both sides when they were last the same. */
  namesOf(docPath: string): Names {
    const known = this.names.get(docPath);
    if (known !== undefined) return known;
    const localPath = docPath.slice(docPath.indexOf('/') + 1);
    return { localPath, cloudPath: `/${this.rootName}/${localPath}` };
  }

  cloudPathOf(docPath: string): string {
    return this.namesOf(docPath).cloudPath;
  }

  /** Whether the file had this local spelling. */
  isSpelledLocally(docPath: string, path: string): boolean {
    return (this.names.get(docPath)?.localPath ?? docPath.slice(docPath.indexOf('/') + 1)) === path;
  }

  get spellings(): Iterable<Names> {
    return this.names.values();
  }

  noteNames(docPath: string, names: Names): void {
    const { localPath, cloudPath } = this.namesOf(docPath);
    const line = namesLine(docPath, names);
    if ((localPath === names.localPath && cloudPath === names.cloudPath) || !isNamesLine(line)) return;
    this.names.set(docPath, names);
    this.unsaved.push(line);
  }

  get baseCount(): number {
    let count = 0;
    for (const line of this.known.values()) if (hasBase(line)) count += 1;
    return count;
  }

  *bases(): Generator<[docPath: string, sha256: string]> {
    for (const [docPath, line] of this.known) {
      const base = baseIn(line);
      if (base !== null) yield [docPath, base];
    }
  }

  /** Whether this folder has sent the content itself: as its base, or without receiving the answer. */
  isOwn(docPath: string, content: string): boolean {
    return this.baseOf(docPath) === content || (this.sent.get(docPath)?.includes(content) ?? false);
  }

  /** Records a file's content, unless a change in the same clock tick could go unnoticed. */
  noteContent(docPath: string, stamp: FileStamp, content: string | null, now = Date.now()): void {
    const reading = { docPath, stamp, content };
    if (isSettled(stamp, now) && this.noteLine(docPath, this.lineOf(reading))) this.unsaved.push(reading);
  }

  /**
   * Records that the content will be sent. Save first: after a crash before the answer it must not look like someone
   * else's.
   */
  noteSent(docPath: string, content: string): void {
    const sent = this.sent.get(docPath) ?? [];
    if (sent.includes(content) || this.baseOf(docPath) === content) return;
    const line = sentLine(docPath, content);
    if (!isSentLine(line)) return;
    this.sent.set(docPath, [...sent, content].slice(-MAX_SENT));
    this.unsaved.push(line);
  }

  /**
   * Records the content that both sides have now; null if neither has the file. The mode defaults to the recorded one.
   */
  noteBase(docPath: string, base: string | null, executable = this.wasExecutable(docPath)): void {
    const isSameMode = base === null || this.wasExecutable(docPath) === executable;
    if (isSameMode && this.baseOf(docPath) === base) return this.settleSent(docPath);
    const line = this.known.get(docPath);
    const { stamp, content } = line === undefined ? UNREAD : parseLine(line);
    const based = formatLine(docPath, { stamp, content, base, wasExecutable: executable });
    if (this.noteLine(docPath, based)) this.unsaved.push(based);
  }

  /** The same with the file's spelling, which is recorded for the first base only. */
  noteSame(docPath: string, base: string, names: Names, executable?: boolean): void {
    if (this.baseOf(docPath) === null) this.noteNames(docPath, names);
    this.noteBase(docPath, base, executable);
  }

  /** The base was restored, so contents that were sent in between are obsolete. */
  private settleSent(docPath: string): void {
    if (this.sent.delete(docPath)) this.unsaved.push(sentLine(docPath, null));
  }

  /**
   * Writes the records to disk; they survive a killed process afterwards. After a failure they are written with the
   * next call.
   */
  save(): Promise<void> {
    const saved = this.saving.then(() => this.write());
    this.saving = saved.catch(() => undefined);
    return saved;
  }

  private async write(): Promise<void> {
    const { length } = this.unsaved;
    if (length === 0) return;
    await this.file.append(
      (found) => this.merge(found),
      () => this.unsaved.slice(0, length).map((each) => this.lineOf(each)),
      () => this.snapshot(),
    );
    this.unsaved.splice(0, length);
  }

  /** Merges the records of other processes. Unsaved records of this process win, because they are written later. */
  private merge({ text, isNew }: StateText): void {
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

  /** A new base makes earlier sent contents obsolete. */
  private remember(docPath: string, line: StateLine): void {
    if (this.sent.size > 0 && this.baseOf(docPath) !== baseIn(line)) this.sent.delete(docPath);
    this.known.set(docPath, line);
  }

  /** Returns false for a docPath that would corrupt the file; it is not remembered. */
  private noteLine(docPath: string, line: string): boolean {
    if (!isWholeLine(line)) return false;
    this.remember(docPath, line);
    return true;
  }

  /** Uses the current base, because another process may have recorded a newer one since the reading. */
  private lineOf(unsaved: string | Reading): string {
    if (typeof unsaved === 'string') return unsaved;
    const { docPath, stamp, content } = unsaved;
    const [base, mode] = [this.baseOf(docPath), this.wasExecutable(docPath)];
    return formatLine(docPath, { stamp, content, base, wasExecutable: mode });
  }

  /** Omits files that neither side has. */
  private snapshot(): string[] {
    const used = [...this.known.values()].filter((line) => parseLine(line).stamp !== null || hasBase(line));
    const sent = [...this.sent].flatMap(([docPath, all]) => all.map((content) => sentLine(docPath, content)));
    const names = [...this.names]
      .filter(([docPath]) => this.baseOf(docPath) !== null)
      .map(([docPath, both]) => namesLine(docPath, both));
    return [...(this.synced ? [SYNCED_LINE] : []), ...used, ...sent, ...names];
  }
}
