import { join } from 'node:path';
import { sha256 } from '@patchbay/protocol';
import { ClientLock, ClientLockedError } from '../journal/client-lock.js';
import { JournalFile } from '../journal/journal-file.js';
import { type FileStamp, isSameStamp, isSettled } from './file-stamp.js';

/** What a file was when it was last read; `sha256` is null where it is no text. */
interface KnownFile {
  stamp: FileStamp;
  sha256: string | null;
}

type Line =
  | [
      kind: 'file',
      path: string,
      sizeBytes: number,
      mtimeMs: number,
      ctimeMs: number,
      ino: number,
      sha256: string | null,
    ]
  | [kind: 'base', docPath: string, sha256: string | null];

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
 * they need not be read again, and what both sides had when they were last the same. One process has it at a time.
 */
export class SyncState {
  private readonly known = new Map<string, KnownFile>();
  private readonly agreed = new Map<string, string>();
  private unsaved: string[] = [];
  private file!: JournalFile;

  private constructor(
    /** Short, and another for every pair. */
    readonly key: string,
    private readonly lock: ClientLock,
  ) {}

  /** @throws ClientLockedError, its message meant for the terminal. */
  static async open(home: string, { url, workspaceId, directory, rootName }: SyncPair): Promise<SyncState> {
    const key = sha256(JSON.stringify([url, workspaceId, directory, rootName])).slice(0, 32);
    const folder = join(home, 'sync', key);
    const lock = await ClientLock.acquire(folder).catch((error: unknown) => {
      if (!(error instanceof ClientLockedError)) throw error;
      throw new ClientLockedError(`Process ${error.pid} is syncing ${directory} at this moment.`, error.pid);
    });
    const state = new SyncState(key.slice(0, 8), lock);
    try {
      state.file = await JournalFile.open(folder, 'state', () => state.snapshot());
      for (const line of await state.file.read()) state.apply(line.toString('utf8'));
      return state;
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  /** What the file holds, where it has not been touched since it was read: undefined where it has to be read. */
  contentOf(path: string, stamp: FileStamp): string | null | undefined {
    const known = this.known.get(path);
    return known !== undefined && isSameStamp(known.stamp, stamp) ? known.sha256 : undefined;
  }

  /** What both sides had when they were last the same; null where they never were. */
  baseOf(docPath: string): string | null {
    return this.agreed.get(docPath) ?? null;
  }

  /** Every docPath that both sides had, with its base. */
  bases(): IterableIterator<[docPath: string, sha256: string]> {
    return this.agreed.entries();
  }

  /** Keeps what was read, unless a change at this very moment would not show. */
  noteContent(path: string, stamp: FileStamp, digest: string | null, now = Date.now()): void {
    if (!isSettled(stamp, now)) return;
    this.known.set(path, { stamp, sha256: digest });
    const { sizeBytes, mtimeMs, ctimeMs, ino } = stamp;
    this.note(['file', path, sizeBytes, mtimeMs, ctimeMs, ino, digest]);
  }

  /** Both sides have this now, null: neither has the file. */
  noteBase(docPath: string, digest: string | null): void {
    if (this.baseOf(docPath) === digest) return;
    if (digest === null) this.agreed.delete(docPath);
    else this.agreed.set(docPath, digest);
    this.note(['base', docPath, digest]);
  }

  /** Forgets what was read of all files but these. */
  retain(paths: ReadonlySet<string>): void {
    for (const path of this.known.keys()) if (!paths.has(path)) this.known.delete(path);
  }

  /** What was noted survives a kill of the process from here on. */
  async save(): Promise<void> {
    if (this.unsaved.length === 0) return;
    const text = this.unsaved.join('');
    this.unsaved = [];
    await this.file.append(text, false, () => undefined);
  }

  async close(): Promise<void> {
    try {
      await this.save();
      await this.file.close();
    } finally {
      await this.lock.release();
    }
  }

  private note(line: Line): void {
    this.unsaved.push(`${JSON.stringify(line)}\n`);
  }

  private apply(text: string): void {
    let line: Line;
    try {
      line = JSON.parse(text) as Line;
    } catch {
      // Torn by a kill. What is not known is read again, and a base that is missing is asked of the Cloud.
      return;
    }
    if (line[0] === 'file') {
      const [, path, sizeBytes, mtimeMs, ctimeMs, ino, digest] = line;
      this.known.set(path, { stamp: { sizeBytes, mtimeMs, ctimeMs, ino }, sha256: digest });
    } else if (line[2] === null) this.agreed.delete(line[1]);
    else this.agreed.set(line[1], line[2]);
  }

  private snapshot(): string {
    const lines: string[] = [];
    for (const [path, { stamp, sha256: digest }] of this.known) {
      const { sizeBytes, mtimeMs, ctimeMs, ino } = stamp;
      lines.push(`${JSON.stringify(['file', path, sizeBytes, mtimeMs, ctimeMs, ino, digest])}\n`);
    }
    for (const [docPath, digest] of this.agreed) lines.push(`${JSON.stringify(['base', docPath, digest])}\n`);
    return lines.join('');
  }
}
