import { ensureDirectory, openDirectory } from '../disk/open-directory.js';
import type { SafeDirectory } from '../disk/safe-directory.js';
import { diskFault, errnoOf } from '../disk/workspace-fault.js';
import { inlineFileSystem as fs } from './inline-file-system.js';
import { ChangedMeanwhile } from './place-file.js';

/**
 * Gives a file another spelling of its path. A folder whose name changes with it is renamed as a whole where it `mayMove`:
 * where it may not, or a folder of the new name is there, the file alone goes there.
 * @param mayMove whether nothing else belongs into the folder of this relative path
 * @throws ChangedMeanwhile where the file is gone, or another has its new name; WorkspaceFault
 */
export async function renameFile(
  root: string,
  from: readonly string[],
  to: readonly string[],
  mayMove: (folder: string) => boolean,
): Promise<void> {
  const at = [...from];
  for (let depth = 0; depth < to.length - 1; depth += 1) {
    if (at[depth] === to[depth]) continue;
    const folder = at.slice(0, depth + 1);
    const isMoved =
      mayMove(from.slice(0, depth + 1).join('/')) && (await renameEntry(root, folder, to[depth]!));
    if (!isMoved) break;
    at[depth] = to[depth]!;
  }
  const isInPlace = at.slice(0, -1).every((name, depth) => name === to[depth]);
  if (!isInPlace) await moveInto(root, at, to);
  else if (at.at(-1) !== to.at(-1) && !(await renameEntry(root, at, to.at(-1)!)))
    throw new ChangedMeanwhile();
}

/** Renames what is at a path; false where it is not there, or another has the name. */
async function renameEntry(root: string, path: readonly string[], name: string): Promise<boolean> {
  const directory = await openDirectory(fs, root, path.slice(0, -1));
  if (directory === null) return false;
  try {
    const before = path.at(-1)!;
    const [old, taken] = [await identityOf(directory, before), await identityOf(directory, name)];
    if (old === null) return taken !== null;
    // Where case does not count, it is the same entry.
    if (taken !== null && taken !== old) return false;
    await rename(directory, before, directory, name);
    return true;
  } finally {
    await directory.close();
  }
}

async function moveInto(root: string, from: readonly string[], to: readonly string[]): Promise<void> {
  const source = await openDirectory(fs, root, from.slice(0, -1));
  const walked = await ensureDirectory(fs, root, to.slice(0, -1));
  const target = walked.directory;
  try {
    const isThere = source !== null && (await identityOf(source, from.at(-1)!)) !== null;
    const taken = await identityOf(target, to.at(-1)!);
    if (!isThere && taken !== null) return;
    if (!isThere || taken !== null) throw new ChangedMeanwhile();
    await rename(source, from.at(-1)!, target, to.at(-1)!);
  } finally {
    await walked.close();
    await source?.close();
  }
  await removeEmpty(root, from.slice(0, -1));
}

async function rename(source: SafeDirectory, name: string, target: SafeDirectory, to: string): Promise<void> {
  try {
    await source.verify();
    await target.verify();
    await fs.rename(source.entry(name), target.entry(to));
  } catch (error) {
    throw diskFault('WriteFailed', `"${name}" could not be renamed to "${to}"`, error);
  }
  await target.sync();
}

/** The folders that the file has left, as far as nothing is in them. */
async function removeEmpty(root: string, folder: readonly string[]): Promise<void> {
  for (let depth = folder.length; depth > 0; depth -= 1) {
    const parent = await openDirectory(fs, root, folder.slice(0, depth - 1));
    if (parent === null) return;
    try {
      await fs.rmdir(parent.entry(folder[depth - 1]!));
    } catch {
      return;
    } finally {
      await parent.close();
    }
  }
}

async function identityOf(directory: SafeDirectory, name: string): Promise<string | null> {
  try {
    const { dev, ino } = await fs.lstat(directory.entry(name));
    return `${dev}:${ino}`;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null;
    throw diskFault('WriteFailed', `"${name}" could not be looked at`, error);
  }
}
