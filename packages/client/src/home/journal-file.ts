import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';

const NEWLINE = 0x0a;
const FILE_MODE = 0o600;
/** Smaller files are not compacted, in bytes. */
const MIN_COMPACT_BYTES = 1024 * 1024;

interface Append {
  text: string;
  durable: boolean;
  onWritten: () => void;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/**
 * An append-only file that is replaced by `snapshot()` when it has doubled in size. Concurrent appends share one
 * write and one fsync and keep their order.
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

  /** Opens the file; creates an empty one if there is none. */
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

  /** The lines of the file, including a last line torn by a crash. */
  async read(): Promise<Buffer[]> {
    return splitLines(await readFile(this.path));
  }

  /**
   * Appends, and calls `onWritten` as soon as the text is written. `durable` waits for the disk; without it the text
   * survives the end of the process, but not a power failure. A failed append leaves nothing in the file.
   */
  append(text: string, durable: boolean, onWritten: () => void): Promise<void> {
    if (this.isClosed) return Promise.reject(new Error('The journal is closed.'));
    return new Promise((resolve, reject) => {
      this.waiting.push({ text, durable, onWritten, resolve, reject });
      this.flushing ??= this.flush();
    });
  }

  /** Replaces the content of the file by the snapshot, durably. Must not run during an append. */
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
    // The snapshot superseded its content: an error on close loses nothing.
    await replaced.close().catch(() => {});
    await syncDirectory(this.directory);
  }

  /** Waits for pending appends. */
  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    await this.flushing;
    await this.handle.close();
  }

  private async flush(): Promise<void> {
    // Lets appends of the same tick share the first write.
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
    // Set in the same step as the last check of the queue, so that the next append starts a new flush.
    this.flushing = null;
  }

  /** Writes at the known end: the rest of a failed write is cut off or overwritten. */
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

/** Without this, a power failure can lose a file that was just created. Windows does not support it. */
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
