import { createHash } from 'node:crypto';
import { constants, type BigIntStats } from 'node:fs';

import type { FileSystem, OpenFile } from './file-system.js';
import type { SafeDirectory } from './safe-directory.js';
import { diskFault, errnoOf, WorkspaceFault } from './workspace-fault.js';

/** The identity of a regular file, and the attributes that its replacement takes over. */
export interface FileStat {
  /** Permission bits, without setuid, setgid and sticky. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly sizeBytes: number;
  readonly identity: string;
}

export interface FileContent extends FileStat {
  readonly bytes: Buffer;
  /** Lowercase hex. */
  readonly sha256: string;
}

/** O_NONBLOCK keeps open() from blocking on a FIFO. */
const READ_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
const CHUNK_BYTES = 1024 * 1024;

/**
 * Returns the regular file of that name, or null if there is none.
 * @throws WorkspaceFault InvalidPath for a link, WriteFailed for a folder, FIFO, socket or device
 */
export async function statFile(
  fs: FileSystem,
  directory: SafeDirectory,
  name: string,
): Promise<FileStat | null> {
  try {
    return toFileStat(await fs.lstat(directory.entry(name)), name);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null;
    throw diskFault('WriteFailed', `"${name}" could not be inspected`, error);
  }
}

/**
 * Reads a whole file from one descriptor, so a replacement meanwhile does not mix contents. Null if there is none.
 * @throws WorkspaceFault as `statFile`; TooLarge for more than `maxBytes`
 */
export async function readFile(
  fs: FileSystem,
  directory: SafeDirectory,
  name: string,
  maxBytes: number,
): Promise<FileContent | null> {
  return withOpenFile(fs, directory, name, async (handle, stat) => {
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    for await (const chunk of chunksOf(handle)) {
      sizeBytes += chunk.length;
      if (sizeBytes > maxBytes) {
        throw new WorkspaceFault('TooLarge', `The file has more than ${maxBytes} bytes.`);
      }
      chunks.push(chunk);
    }
    const bytes = Buffer.concat(chunks);
    return { ...stat, sizeBytes, bytes, sha256: fs.sha256(bytes) };
  });
}

/**
 * Returns the sha256 (lowercase hex) and identity of a file of any size; null if there is none.
 * @throws WorkspaceFault as `statFile`
 */
export async function hashFile(
  fs: FileSystem,
  directory: SafeDirectory,
  name: string,
): Promise<{ sha256: string; identity: string } | null> {
  return withOpenFile(fs, directory, name, async (handle, stat) => {
    const hash = createHash('sha256');
    for await (const chunk of chunksOf(handle)) hash.update(chunk);
    return { sha256: hash.digest('hex'), identity: stat.identity };
  });
}

async function withOpenFile<T>(
  fs: FileSystem,
  directory: SafeDirectory,
  name: string,
  use: (handle: OpenFile, stat: FileStat) => Promise<T>,
): Promise<T | null> {
  if (!(await statFile(fs, directory, name))) return null;
  let handle: OpenFile | null = null;
  try {
    handle = await fs.open(directory.entry(name), READ_FLAGS);
    return await use(handle, toFileStat(await handle.stat({ bigint: true }), name));
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null;
    if (errnoOf(error) === 'ELOOP') throw linkFault(name);
    throw diskFault('WriteFailed', `"${name}" could not be read`, error);
  } finally {
    await handle?.close();
  }
}

async function* chunksOf(handle: OpenFile): AsyncGenerator<Buffer> {
  for (;;) {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
  }
}

function toFileStat(stats: BigIntStats, name: string): FileStat {
  if (stats.isSymbolicLink()) throw linkFault(name);
  if (stats.isDirectory()) throw new WorkspaceFault('WriteFailed', `"${name}" is a folder.`);
  if (!stats.isFile()) throw new WorkspaceFault('WriteFailed', `"${name}" is not a regular file.`);
  return {
    mode: Number(stats.mode) & 0o777,
    uid: Number(stats.uid),
    gid: Number(stats.gid),
    sizeBytes: Number(stats.size),
    identity: `${stats.dev}:${stats.ino}`,
  };
}

function linkFault(name: string): WorkspaceFault {
  return new WorkspaceFault('InvalidPath', `"${name}" is a symbolic link.`);
}
