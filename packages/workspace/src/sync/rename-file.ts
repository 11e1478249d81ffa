import { constants } from 'node:fs';
import { ensureDirectory, openDirectory } from '../disk/open-directory.js';
import type { SafeDirectory } from '../disk/safe-directory.js';
import { diskFault, errnoOf } from '../disk/workspace-fault.js';
import { inlineFileSystem as fs } from './inline-file-system.js';
import { ChangedMeanwhile } from './place-file.js';

const CLAIM_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;

/**
 * Changes the spelling of a file's path. The old folders and their other files stay. On a file system that ignores
 * case, the folder itself is renamed if `mayMove` allows it.
 * @param mayMove whether the Cloud has no file in the folder with this relative path
 * @throws ChangedMeanwhile if the file is gone or its new name is taken; WorkspaceFault
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
    if (!(await isOneEntry(root, at.slice(0, depth + 1), to[depth]!))) break;
    if (mayMove(from.slice(0, depth + 1).join('/')))
      await moveEntry(root, at.slice(0, depth + 1), [...at.slice(0, depth), to[depth]!]);
    at[depth] = to[depth]!;
  }
  if (at.join('/') === to.join('/')) return;
  await moveEntry(root, at, to);
  await removeEmpty(root, at.slice(0, -1));
}

/** Whether both names are the same entry, as on file systems that ignore case. */
async function isOneEntry(root: string, path: readonly string[], name: string): Promise<boolean> {
  const directory = await openDirectory(fs, root, path.slice(0, -1));
  if (directory === null) return false;
  try {
    const [old, other] = [await identityOf(directory, path.at(-1)!), await identityOf(directory, name)];
    return old !== null && old === other;
  } finally {
    await directory.close();
  }
}

async function moveEntry(root: string, from: readonly string[], to: readonly string[]): Promise<void> {
  const [name, newName] = [from.at(-1)!, to.at(-1)!];
  const source = await openDirectory(fs, root, from.slice(0, -1));
  if (source === null) throw new ChangedMeanwhile();
  const walked = await ensureDirectory(fs, root, to.slice(0, -1)).catch(async (error: unknown) => {
    await source.close();
    throw error;
  });
  const target = walked.directory;
  try {
    const [old, taken] = [await identityOf(source, name), await identityOf(target, newName)];
    if (old === null || (taken !== null && taken !== old)) throw new ChangedMeanwhile();
    await source.verify();
    await target.verify();
    await (taken === null
      ? moveToFree(source.entry(name), target.entry(newName))
      : fs.rename(source.entry(name), target.entry(newName)));
    await target.sync();
    await source.sync();
  } catch (error) {
    await walked.undo();
    if (error instanceof ChangedMeanwhile || errnoOf(error) === 'EEXIST') throw new ChangedMeanwhile();
    throw diskFault('WriteFailed', `"${name}" could not be renamed to "${newName}"`, error);
  } finally {
    await walked.close();
    await source.close();
  }
}

/**
 * An empty file claims the new name first, so that only one of two concurrent writers gets it. A save under the old
 * name right before the rename is kept.
 */
async function moveToFree(from: string, to: string): Promise<void> {
  await (await fs.open(to, CLAIM_FLAGS, 0o600)).close();
  try {
    await fs.rename(from, to);
  } catch (error) {
    await fs.unlink(to).catch(() => {});
    throw error;
  }
}

/** Removes the folders that have become empty. */
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
    throw diskFault('WriteFailed', `"${name}" could not be inspected`, error);
  }
}
