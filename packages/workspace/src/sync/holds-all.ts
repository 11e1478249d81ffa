import { join } from 'node:path';
import { DEFAULT_MAX_FILE_BYTES, foldCase } from '@patchbay/protocol';
import { DiskFinder } from './disk-finder.js';
import { type FolderSync, rootOf } from './folder-sync.js';
import { readWhole } from './read-file.js';

/**
 * Whether a folder holds every file that the Cloud has under its name, as it is there, and one at least: then it is the
 * same project, whatever is known of it here. Ends at the first file that is missing or another.
 */
export async function holdsAll(folder: Pick<FolderSync, 'files' | 'roots'>): Promise<boolean> {
  const { directory, name } = rootOf(folder);
  const finder = new DiskFinder(folder.roots);
  let same = 0;
  for await (const { docPath, sha256 } of folder.files.list({ prefix: `${foldCase(name)}/` })) {
    const path = await finder.find(docPath).catch(() => null);
    if (path === null || shaOf(join(directory, path)) !== sha256) return false;
    same += 1;
  }
  return same > 0;
}

/** Whether most of the files that both sides had are there: the folder is the one of which that is remembered. */
export async function holdsMost({ roots, state }: Pick<FolderSync, 'roots' | 'state'>): Promise<boolean> {
  const finder = new DiskFinder(roots);
  let [there, all] = [0, 0];
  for (const [docPath] of state.bases()) {
    all += 1;
    if ((await finder.find(docPath).catch(() => null)) !== null) there += 1;
  }
  return there * 2 >= all;
}

function shaOf(path: string): string | null {
  try {
    return readWhole(path, DEFAULT_MAX_FILE_BYTES)?.sha256 ?? null;
  } catch {
    return null;
  }
}
