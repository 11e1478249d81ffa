import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256 } from '@patchbay/protocol/hash';
import { ClientLock, ClientLockedError, JournalFile } from '@patchbay/client/home';
import { type FileStamp, isSettled } from './file-stamp.js';
import {
  baseIn,
  contentIn,
  docPathIn,
  formatLine,
  hasBase,
  hasBaseAsContent,
  hasStamp,
  isWholeLine,
  type Known,
  parseLine,
  type StateLine,
} from './state-line.js';

const FILE = 'state';
const UNREAD = { stamp: null, content: null };
/** Superseded lines that are not worth a new file. */
const SPARE_LINES = 100;

/** Which folder is synced with what. */
export interface SyncPair {
  url: string;
  workspaceId: string;
  /** Real path. */
  directory: string;
  rootName: string;
}

/**
 * What is remembered of a folder from one push or pull to the next: what its files were when they were read, so that
 * they need not be read again, and what both sides had when they were last the same. One process has it at a time. The
 * file has a line for each docPath, of which a later one replaces an earlier one; a line that a kill or a power failure
 * spoilt counts for none: the file is read again, and a base that is missing is asked of the Cloud.
 */
export class SyncState {
  private unsaved: string[] = [];
  private file: Promise<JournalFile> | null = null;

  private constructor(
    /** Short, and another for every pair. */
    readonly key: string,
    private readonly folder: string,
    private readonly lock: ClientLock,
    /** The line of each docPath. */
    private readonly known: Map<string, StateLine>,
    private lines: number,
  ) {}

  /** @throws ClientLockedError, its message meant for the terminal. */
  static async open(home: string, { url, workspaceId, directory, rootName }: SyncPair): Promise<SyncState> {
    const key = sha256(JSON.stringify([url, workspaceId, directory, rootName])).slice(0, 32);
    const folder = join(home, 'sync', key);
    const lock = await ClientLock.acquire(folder).catch((error: unknown) => {
      if (!(error instanceof ClientLockedError)) throw error;
      throw new ClientLockedError(`Process ${error.pid} is syncing ${directory} at this moment.`, error.pid);
    });
    try {
      const text = await readFile(join(folder, FILE), 'utf8').catch(unlessMissing);
      const known = new Map<string, StateLine>();
      let lines = 0;
      for (const line of text.split('\n')) {
        lines += 1;
        if (isWholeLine(line)) known.set(docPathIn(line), line);
      }
      const state = new SyncState(key.slice(0, 8), folder, lock, known, lines);
      if (text !== '' && !text.endsWith('\n')) state.mend();
      return state;
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  /** Whether the file has not been touched since it was read, and holds what both sides last had. */
  isUnchanged(docPath: string, stamp: FileStamp): boolean {
    const line = this.known.get(docPath);
    return line !== undefined && hasBaseAsContent(line) && hasStamp(line, docPath, stamp);
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

  /** Keeps what was read, unless a change at this very moment would not show. */
  noteContent(docPath: string, stamp: FileStamp, content: string | null, now = Date.now()): void {
    if (isSettled(stamp, now)) this.note(docPath, { stamp, content, base: this.baseOf(docPath) });
  }

  /** Both sides have this now, null: neither has the file. */
  noteBase(docPath: string, base: string | null): void {
    if (this.baseOf(docPath) === base) return;
    const line = this.known.get(docPath);
    const { stamp, content } = line === undefined ? UNREAD : parseLine(line);
    this.note(docPath, { stamp, content, base });
  }

  /** What was noted survives a kill of the process from here on. */
  async save(): Promise<void> {
    if (this.unsaved.length === 0) return;
    const text = this.unsaved.join('');
    this.lines += this.unsaved.length;
    this.unsaved = [];
    this.file ??= JournalFile.open(this.folder, FILE, () => this.snapshot());
    await (await this.file).append(text, false, () => undefined);
  }

  async close(): Promise<void> {
    try {
      await this.save();
      const file = await this.file;
      if (file !== null && this.lines > this.known.size + SPARE_LINES) await file.compact();
      await file?.close();
    } finally {
      await this.lock.release();
    }
  }

  /** The last line was torn by a kill: what follows must not be glued to it. */
  private mend(): void {
    this.unsaved.push('\n');
    this.lines = Infinity;
  }

  /** A docPath that would spoil the file is not remembered. */
  private note(docPath: string, known: Known): void {
    const line = formatLine(docPath, known);
    if (!isWholeLine(line)) return;
    this.known.set(docPath, line);
    this.unsaved.push(`${line}\n`);
  }

  /** Without what is not in use any more: neither side has it. */
  private snapshot(): string {
    const used = [...this.known.values()].filter((line) => parseLine(line).stamp !== null || hasBase(line));
    return used.map((line) => `${line}\n`).join('');
  }
}

function unlessMissing(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return '';
  throw error;
}
