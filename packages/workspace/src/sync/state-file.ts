import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { ClientLock, ClientLockedError } from '@patchbay/client/home';

const FILE = 'state';
const FILE_MODE = 0o600;
/** Length of the first line: `#`, a UUID and a newline. */
const GENERATION_BYTES = 38;
const NEWLINE = 0x0a;
/** Longest wait in ms for another process's write, which takes moments only. */
const LOCK_WAIT_MS = 15_000;
const LOCK_RETRY_MS = 20;
/** Superseded lines below this number do not cause a rewrite. */
const SPARE_LINES = 100;

/** The text of the file, or what was appended since the last read. */
export interface StateText {
  text: string;
  /** The file was replaced, so earlier text is obsolete. */
  isNew: boolean;
}

/**
 * The lines of a folder's state on disk, shared by several processes. A writer holds a file lock during one append.
 * Reads and writes are synchronous, so that two of one process cannot overlap. Readers detect a line that a killed
 * process has left incomplete by its missing newline.
 */
export class StateFile {
  private readonly path: string;
  /** The unique first line of the file at the last read; null if there was no file. */
  private generation: string | null = null;
  /** End of the last complete line that was read. */
  private offset = 0;
  private lines = 0;

  constructor(private readonly folder: string) {
    this.path = join(folder, FILE);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }

  /** Reads what was appended since the last call. An incomplete last line is left for the next call. */
  read(): StateText {
    const fd = this.open(constants.O_RDONLY);
    if (fd === null) return { text: '', isNew: this.forget() };
    try {
      return this.readFrom(fd);
    } catch (error) {
      // System errors of an open descriptor do not name the file.
      throw Object.assign(error as Error, { path: this.path });
    } finally {
      closeSync(fd);
    }
  }

  /**
   * Appends lines under the lock. Calls `merge` with the lines of other processes first, and `added` afterwards.
   * Rewrites the file from `snapshot` if most of its lines are superseded. Appended lines survive a killed process.
   */
  async append(
    merge: (found: StateText) => void,
    added: () => readonly string[],
    snapshot: () => readonly string[],
  ): Promise<void> {
    const lock = await acquire(join(this.folder, 'writer'));
    try {
      merge(this.read());
      const [all, more] = [snapshot(), added()];
      const isMarked = this.generation?.startsWith('#') ?? false;
      if (!isMarked || this.lines + more.length > 2 * all.length + SPARE_LINES) this.replace(all);
      else this.write(more);
    } finally {
      await lock.release();
    }
  }

  private readFrom(fd: number): StateText {
    const { size } = fstatSync(fd);
    const generation = readAt(fd, 0, Math.min(size, GENERATION_BYTES)).toString('latin1');
    const isNew = generation !== this.generation || size < this.offset;
    if (isNew) this.forget();
    this.generation = generation;
    const bytes = readAt(fd, this.offset, size - this.offset);
    const text = bytes.subarray(0, bytes.lastIndexOf(NEWLINE) + 1);
    this.offset += text.length;
    const lines = text.toString('utf8');
    this.lines += lines.split('\n').length - 1;
    return { text: lines, isNew };
  }

  /** Requires the lock. Terminates an incomplete line of a killed process, which readers then ignore. */
  private write(lines: readonly string[]): void {
    const text = textOf(lines);
    const fd = openSync(this.path, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND, FILE_MODE);
    try {
      const { size } = fstatSync(fd);
      const bytes = Buffer.from(size > this.offset ? `\n${text}` : text);
      for (let done = 0; done < bytes.length;) done += writeSync(fd, bytes, done);
      this.offset = size + bytes.length;
      this.lines += lines.length;
    } finally {
      closeSync(fd);
    }
  }

  /** Replaces the file atomically. */
  private replace(lines: readonly string[]): void {
    const next = `${this.path}.new`;
    const fd = openSync(next, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC, FILE_MODE);
    try {
      const generation = `#${randomUUID()}\n`;
      const bytes = Buffer.from(generation + textOf(lines));
      for (let done = 0; done < bytes.length;) done += writeSync(fd, bytes, done);
      fsyncSync(fd);
      renameSync(next, this.path);
      Object.assign(this, { generation, offset: bytes.length, lines: lines.length + 1 });
    } finally {
      closeSync(fd);
    }
  }

  private open(flags: number): number | null {
    try {
      return openSync(this.path, flags);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
  }

  /** Returns whether there was something to forget. */
  private forget(): boolean {
    const known = this.generation !== null;
    Object.assign(this, { generation: null, offset: 0, lines: 0 });
    return known;
  }
}

function textOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}

function readAt(fd: number, from: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  let read = 0;
  while (read < length) {
    const more = readSync(fd, bytes, read, length - read, from + read);
    if (more === 0) break;
    read += more;
  }
  return bytes.subarray(0, read);
}

async function acquire(directory: string): Promise<ClientLock> {
  const until = Date.now() + LOCK_WAIT_MS;
  for (;;) {
    try {
      return await ClientLock.acquire(directory);
    } catch (error) {
      if (!(error instanceof ClientLockedError) || Date.now() > until) throw error;
      await setTimeout(LOCK_RETRY_MS);
    }
  }
}
