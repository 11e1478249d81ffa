import { join } from 'node:path';
import { type CloudFile, DEFAULT_MAX_FILE_BYTES } from '@patchbay/protocol';
import { hiddenDocPaths } from '../visible/hidden-doc-paths.js';
import { cloudFilesOf } from './cloud-list.js';
import { DiskFinder } from './disk-finder.js';
import { type FolderSync, rootOf } from './folder-sync.js';
import { readWhole } from './read-file.js';

/** Most files per query to git. */
const FILES_PER_QUERY = 1_000;

/**
 * Whether a folder holds all Cloud files under its name with equal content, and at least one. Then it is the same
 * project. Stops at the first difference. Hidden files are skipped, because the answer would confirm a guess of their
 * content.
 */
export async function holdsAll(folder: Pick<FolderSync, 'files' | 'roots'>): Promise<boolean> {
  let same = 0;
  for await (const files of inChunks(cloudFilesOf(folder))) {
    const hidden = await hiddenDocPaths(
      folder,
      files.map(({ docPath }) => docPath),
    );
    const seen = files.filter(({ docPath }) => !hidden.has(docPath));
    if (!(await areEqual(folder, seen))) return false;
    same += seen.length;
  }
  return same > 0;
}

async function areEqual(folder: Pick<FolderSync, 'roots'>, files: readonly CloudFile[]): Promise<boolean> {
  const { directory } = rootOf(folder);
  const finder = new DiskFinder(folder.roots);
  for (const { docPath, sha256 } of files) {
    const path = await finder.find(docPath).catch(() => null);
    if (path === null || shaOf(join(directory, path)) !== sha256) return false;
  }
  return true;
}

async function* inChunks<T>(items: AsyncIterable<T>): AsyncGenerator<T[]> {
  let chunk: T[] = [];
  for await (const item of items) {
    if (chunk.push(item) < FILES_PER_QUERY) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}

/** Whether at least half of the files in the state exist, which shows that the state belongs to this folder. */
export async function holdsMost({ roots, state }: Pick<FolderSync, 'roots' | 'state'>): Promise<boolean> {
  const finder = new DiskFinder(roots);
  const docPaths = [...state.bases()].map(([docPath]) => docPath);
  const hidden = await hiddenDocPaths({ roots }, docPaths);
  const seen = docPaths.filter((docPath) => !hidden.has(docPath));
  let existing = 0;
  for (const docPath of seen) {
    if ((await finder.find(docPath).catch(() => null)) !== null) existing += 1;
  }
  return seen.length > 0 && existing * 2 >= seen.length;
}

function shaOf(path: string): string | null {
  try {
    return readWhole(path, DEFAULT_MAX_FILE_BYTES)?.sha256 ?? null;
  } catch {
    return null;
  }
}
