import { closeSync, existsSync, fsyncSync, linkSync, mkdirSync, openSync } from 'node:fs';
import { readdirSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** What a file is called until it is whole. It lies beside it, and has the id of its process in its name. */
export function partialOf(target: string): string {
  const prefix = `${basename(target)}.partial-`;
  removeLeftOvers(dirname(target), prefix);
  return join(dirname(target), `${prefix}${process.pid}`);
}

/** Removes what killed processes have left: names that go on with the id of a process that is gone. */
export function removeLeftOvers(folder: string, prefix: string): void {
  for (const name of readdirSync(folder).filter((one) => one.startsWith(prefix)))
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

/** Gives a file its name, unless another came by that meanwhile. */
export function place(partial: string, target: string): void {
  try {
    linkSync(partial, target);
    rmSync(partial);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST' || existsSync(target))
      throw new Error(`${target} exists already`, { cause: error });
    // A file system without hard links.
    renameSync(partial, target);
  }
}

/** The folder of a new file, made for its owner alone where it is missing. */
export function realFolder(target: string): string {
  const folder = dirname(target);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return realpathSync(folder);
  } catch (error) {
    throw new Error(`${folder} can't be made (${(error as NodeJS.ErrnoException).code})`, { cause: error });
  }
}

/** Gets a file or a folder's names to the disk. */
export function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
