import { closeSync, existsSync, fsyncSync, linkSync, mkdirSync, openSync } from 'node:fs';
import { readdirSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** The name of a file until it is complete: beside the target, with the process id in it. */
export function partialOf(target: string): string {
  const prefix = `${basename(target)}.partial-`;
  removeLeftOvers(dirname(target), prefix);
  return join(dirname(target), `${prefix}${process.pid}`);
}

/** Removes partial files of dead processes, by the process id in their names. */
export function removeLeftOvers(folder: string, prefix: string): void {
  for (const name of readdirSync(folder).filter((entry) => entry.startsWith(prefix)))
    if (!isAlive(Number.parseInt(name.slice(prefix.length), 10)))
      rmSync(join(folder, name), { recursive: true, force: true });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return pid !== process.pid;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Renames a complete file to its target, unless the target exists by now. */
export function publish(partial: string, target: string): void {
  try {
    linkSync(partial, target);
    rmSync(partial);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST' || existsSync(target))
      throw new Error(`${target} exists already`, { cause: error });
    // The file system has no hard links.
    renameSync(partial, target);
  }
}

/** The folder of a new file, created with access for its owner only if it is missing. */
export function realFolder(target: string): string {
  const folder = dirname(target);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return realpathSync(folder);
  } catch (error) {
    throw new Error(`${folder} can't be made (${(error as NodeJS.ErrnoException).code})`, { cause: error });
  }
}

/** Flushes a file, or the names in a folder, to the disk. */
export function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
