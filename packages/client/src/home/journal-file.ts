import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';

const NEWLINE = 0x0a;
const FILE_MODE = 0o600;
/** A file smaller than this is not worth compacting, in bytes. */
const MIN_COMPACT_BYTES = 1024 * 1024;

interface Append {
  text: string;
  durable: boolean;
  onWritten: () => void;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/**
 * A file that grows at its end, and is replaced by `snapshot()` when it has doubled. Appends that meet share one write
 * and one fsync, and take effect in their order.
 */
export class JournalFile {
  private waiting: Append[] = [];
  private flushing: Promise<void> | null = null;
  private isClosed = false;
  private compactAbove = MIN_COMPACT_BYTES;

  private constructor(
    private readonly directory: string,
    private readonly path: string,
    private readonly snapshot: () => string,
    private handle: FileHandle,
    private size: number,
  ) {}

  /** Opens the file, an empty one where there is none. */
  static async open(directory: string, name: string, snapshot: () => string): Promise<JournalFile> {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const path = join(directory, name);
    const handle = await open(path, constants.O_RDWR | constants.O_CREAT, FILE_MODE);
    try {
      await syncDirectory(directory);
      return new JournalFile(directory, path, snapshot, handle, (await handle.stat()).size);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** What the file holds, line by line; a last one that a crash tore is among them. */
  async read(): Promise<Buffer[]> {
    return splitLines(await readFile(this.path));
  }

  /**
   * Appends; `onWritten` is called at once when it is done. `durable` waits for the disk; without it the text survives
   * a kill of the process, but not of the machine. What fails to be appended is not in the file.
   */
  append(text: string, durable: boolean, onWritten: () => void): Promise<void> {
    if (this.isClosed) return Promise.reject(new Error('The journal is closed.'));
    return new Promise((resolve, reject) => {
      this.waiting.push({ text, durable, onWritten, resolve, reject });
      this.flushing ??= this.flush();
    });
  }

  /** Puts the snapshot in the place of all that the file holds, durably. Not while an append is under way. */
  async compact(): Promise<void> {
    const text = this.snapshot();
    const path = `${this.path}.new`;
    const handle = await open(path, 'w', FILE_MODE);
    try {
      await handle.writeFile(text);
      await handle.sync();
      await rename(path, this.path);
    } catch (error) {
      await handle.close();
      throw error;
    }
    const replaced = this.handle;
    this.handle = handle;
    this.size = Buffer.byteLength(text);
    this.compactAbove = Math.max(MIN_COMPACT_BYTES, 2 * this.size);
    // Its content is superseded: an error on close loses nothing.
    await replaced.close().catch(() => {});
    await syncDirectory(this.directory);
  }

  /** Waits for what was appended. */
  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    await this.flushing;
    await this.handle.close();
  }

  private async flush(): Promise<void> {
    // Lets those who append in the same instant share the first write too.
    await Promise.resolve();
    while (this.waiting.length > 0) {
      const batch = this.waiting.splice(0);
      try {
        await this.write(
          batch.map(({ text }) => text),
          batch.some(({ durable }) => durable),
        );
        for (const { onWritten } of batch) onWritten();
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
      if (this.size > this.compactAbove)
        await this.compact().catch(() => (this.compactAbove = 2 * this.size));
    }
    // In the same step as the last look at what waits: whoever appends next begins anew.
    this.flushing = null;
  }

  /** At the known end: what a failed write left behind it is cut off, or overwritten by the next. */
  private async write(texts: string[], durable: boolean): Promise<void> {
    const bytes = Buffer.from(texts.join(''));
    try {
      for (let done = 0; done < bytes.length;) {
        done += (await this.handle.write(bytes, done, bytes.length - done, this.size + done)).bytesWritten;
      }
      if (durable) await this.handle.datasync();
    } catch (error) {
      await this.handle.truncate(this.size).catch(() => {});
      throw error;
    }
    this.size += bytes.length;
  }
}

/** Without this a file that was just made could be gone after a power failure. Windows cannot do it. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, constants.O_RDONLY).catch(() => null);
  await handle?.sync().catch(() => {});
  await handle?.close().catch(() => {});
}

function splitLines(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let start = 0; start < bytes.length;) {
    const newline = bytes.indexOf(NEWLINE, start);
    const end = newline === -1 ? bytes.length : newline;
    lines.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return lines;
}
