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
/** Of the first line: a UUID between a sign and the end of the line. */
const GENERATION_BYTES = 38;
const NEWLINE = 0x0a;
/** Longest time to wait for another process that is writing, in ms: it does so for moments only. */
const LOCK_WAIT_MS = 15_000;
const LOCK_RETRY_MS = 20;
/** Superseded lines that are not worth a new file. */
const SPARE_LINES = 100;

/** What was found in the file: all of it, or what others have added since it was read last. */
export interface StateText {
  text: string;
  /** The file is another one than before: what was known of it counts no more. */
  isNew: boolean;
}

/**
 * Lines of a folder's state on the disk, for as many processes as have to do with the folder. Whoever writes holds the
 * lock, for one append; nobody waits for the disk meanwhile but the system calls themselves, so that no two writes of one
 * process can meet either. A line that a kill has torn is for its readers to see: it does not end.
 */
export class StateFile {
  private readonly path: string;
  /** The first line of the file when it was read last, which no other file has; null where there was none. */
  private generation: string | null = null;
  /** Up to here it has been read, always to the end of a line. */
  private offset = 0;
  private lines = 0;

  constructor(private readonly folder: string) {
    this.path = join(folder, FILE);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }

  /** What has been added since the last look; the beginning of a line that is just being written is left for the next. */
  read(): StateText {
    const fd = this.open(constants.O_RDONLY);
    if (fd === null) return { text: '', isNew: this.forget() };
    try {
      return this.readFrom(fd);
    } catch (error) {
      // The system does not say of what is open which file it is.
      throw Object.assign(error as Error, { path: this.path });
    } finally {
      closeSync(fd);
    }
  }

  /**
   * Appends lines under the lock. `absorb` is given first what others have added, and only then `added` is asked for the
   * lines; the file is written anew from `snapshot` where most of it would be lines that later ones have replaced. What
   * is appended survives a kill of the process.
   */
  async append(
    absorb: (found: StateText) => void,
    added: () => readonly string[],
    snapshot: () => readonly string[],
  ): Promise<void> {
    const lock = await acquire(join(this.folder, 'writer'));
    try {
      absorb(this.read());
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

  /** Only under the lock: what stands behind the last whole line was torn by a kill, and is ended as a line of nothing. */
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

  /** The whole state, in one step: a kill leaves the file as it was, or as it is to be. */
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

  /** Whether there was something to be forgotten. */
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
