import { createReadStream, existsSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { addAbortSignal, Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { partialOf, publish, realFolder, sync } from '../partial-file.js';

/** Stands for stdout or stdin. */
export const STANDARD = '-';

/** Writes a new file, with access for its owner only, which gets its name once it is complete. */
export async function writeExport(
  file: string,
  lines: AsyncIterable<string>,
  signal: AbortSignal,
): Promise<void> {
  if (file === STANDARD) return write(lines, process.stdout, 'stdout', signal);
  const target = resolve(file);
  const folder = realFolder(target);
  if (existsSync(target)) throw new Error(`${target} exists already; choose another name`);
  const partial = partialOf(target);
  try {
    const handle = await open(partial, 'wx', 0o600);
    await write(lines, handle.createWriteStream({ flush: true }), target, signal);
    publish(partial, target);
    sync(folder);
  } finally {
    rmSync(partial, { force: true });
  }
}

async function write(
  lines: AsyncIterable<string>,
  to: Writable,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  let fault: unknown = null;
  to.on('error', (error) => (fault ??= error));
  try {
    await pipeline(Readable.from(lines), to, { signal });
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error !== fault) throw error;
    throw new Error(`${name} can't be written: ${(error as Error).message}`, { cause: error });
  }
}

/** The bytes of an export, from a file or stdin. */
export function readExport(file: string, signal: AbortSignal): Readable {
  const stream = file === STANDARD ? process.stdin : createReadStream(resolve(file));
  return addAbortSignal(signal, stream);
}
