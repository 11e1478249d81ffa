import { type CloudFile, foldCase, unfoldableFault } from '@patchbay/protocol';
import { type FolderSync, rootOf } from './folder-sync.js';

/** Whether a path and docPath from a server name the same file, and it belongs to the folder. */
export function belongsToFolder(
  folder: Pick<FolderSync, 'roots'>,
  { path, docPath }: Pick<CloudFile, 'path' | 'docPath'>,
): boolean {
  if (!path.startsWith('/') || unfoldableFault(path) !== null) return false;
  return foldCase(path.slice(1)) === docPath && docPath.startsWith(prefixOf(folder));
}

/** Lists the folder's Cloud files. Entries whose path and docPath disagree are passed to `onOdd`. */
export async function* cloudFilesOf(
  folder: Pick<FolderSync, 'roots' | 'files'>,
  signal?: AbortSignal,
  onInconsistent: (file: CloudFile) => void = () => undefined,
): AsyncGenerator<CloudFile> {
  for await (const file of folder.files.list({ prefix: prefixOf(folder), ...(signal && { signal }) })) {
    if (belongsToFolder(folder, file)) yield file;
    else onInconsistent(file);
  }
}

function prefixOf(folder: Pick<FolderSync, 'roots'>): string {
  return `${foldCase(rootOf(folder).name)}/`;
}
