import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256 } from '@patchbay/protocol';
import { ClientLock, ClientLockedError } from '../journal/client-lock.js';
import { JournalFile } from '../journal/journal-file.js';
import { type FileStamp, isSettled } from './file-stamp.js';

/**
 * What is known of one docPath; a line of the file, later ones replace earlier ones. In memory it stays this array:
 * ten thousand objects made at each start would take longer than all else that an unchanged push does with them.
 */
type Known = [
  docPath: string,
  /** The stamp that the file had when it was read; a size of -1: it was not. */
  sizeBytes: number,
  mtimeMs: number,
  ctimeMs: number,
  ino: number,
  /** What it held then; null: no text. */
  content: string | null,
  /** What both sides had when they were last the same, 1: what the file holds; null: they never were. */
  base: string | 1 | null,
];

const FILE = 'state';
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
 * they need not be read again, and what both sides had when they were last the same. One process has it at a time.
 */
export class SyncState {
  private unsaved: string[] = [];
  private file: Promise<JournalFile> | null = null;

  private constructor(
    /** Short, and another for every pair. */
    readonly key: string,
    private readonly folder: string,
    private readonly lock: ClientLock,
    private readonly known: Map<string, Known>,
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
      const lines = parseLines(text);
      const known = new Map(lines.map((line) => [line[0], line]));
      const state = new SyncState(key.slice(0, 8), folder, lock, known, lines.length);
      if (text !== '' && !text.endsWith('\n')) state.mend();
      return state;
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  /** What the file holds, where it has not been touched since it was read: undefined where it has to be read. */
  contentOf(docPath: string, { sizeBytes, mtimeMs, ctimeMs, ino }: FileStamp): string | null | undefined {
    const known = this.known.get(docPath);
    const isSame =
      known?.[1] === sizeBytes && known[2] === mtimeMs && known[3] === ctimeMs && known[4] === ino;
    return isSame ? known[5] : undefined;
  }

  /** What both sides had when they were last the same; null where they never were. */
  baseOf(docPath: string): string | null {
    const known = this.known.get(docPath);
    return known === undefined ? null : baseIn(known);
  }

  /** How many docPaths have a base. */
  get baseCount(): number {
    let count = 0;
    for (const known of this.known.values()) if (known[6] !== null) count += 1;
    return count;
  }

  /** Every docPath that both sides had, with its base. */
  *bases(): Generator<[docPath: string, sha256: string]> {
    for (const known of this.known.values()) {
      const base = baseIn(known);
      if (base !== null) yield [known[0], base];
    }
  }

  /** Keeps what was read, unless a change at this very moment would not show. */
  noteContent(docPath: string, stamp: FileStamp, digest: string | null, now = Date.now()): void {
    if (!isSettled(stamp, now)) return;
    const { sizeBytes, mtimeMs, ctimeMs, ino } = stamp;
    const base = this.baseOf(docPath);
    const short = base !== null && base === digest ? 1 : base;
    this.note([docPath, sizeBytes, mtimeMs, ctimeMs, ino, digest, short]);
  }

  /** Both sides have this now, null: neither has the file. */
  noteBase(docPath: string, digest: string | null): void {
    if (this.baseOf(docPath) === digest) return;
    const [, sizeBytes, mtimeMs, ctimeMs, ino, content] = this.known.get(docPath) ?? unread(docPath);
    const short = digest !== null && digest === content ? 1 : digest;
    this.note([docPath, sizeBytes, mtimeMs, ctimeMs, ino, content, short]);
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

  private note(known: Known): void {
    this.known.set(known[0], known);
    this.unsaved.push(`${JSON.stringify(known)}\n`);
  }

  /** Without what is not in use any more: neither side has it. */
  private snapshot(): string {
    const used = [...this.known.values()].filter((known) => known[1] !== -1 || known[6] !== null);
    return used.map((known) => `${JSON.stringify(known)}\n`).join('');
  }
}

function unread(docPath: string): Known {
  return [docPath, -1, 0, 0, 0, null, null];
}

function baseIn([, , , , , content, base]: Known): string | null {
  return base === 1 ? content : base;
}

/** All at once, which takes half the time; one by one where a kill has torn the last, which is then left out. */
function parseLines(text: string): Known[] {
  const lines = text.trimEnd();
  try {
    return JSON.parse(`[${lines.replaceAll('\n', ',')}]`) as Known[];
  } catch {
    return lines.split('\n').flatMap(parseLine);
  }
}

/** What is not known is read again, and a base that is missing is asked of the Cloud. */
function parseLine(text: string): Known[] {
  try {
    return [JSON.parse(text) as Known];
  } catch {
    return [];
  }
}

function unlessMissing(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return '';
  throw error;
}
