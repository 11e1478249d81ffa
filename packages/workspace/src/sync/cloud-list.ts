import { type CloudFile, foldCase, unfoldableFault } from '@patchbay/protocol';
import { type FolderSync, rootOf } from './folder-sync.js';

/** Whether a path and a docPath that a server gave are of one file, and that lies in the folder. */
export function isOfFolder(
  folder: Pick<FolderSync, 'roots'>,
  { path, docPath }: Pick<CloudFile, 'path' | 'docPath'>,
): boolean {
  if (!path.startsWith('/') || unfoldableFault(path) !== null) return false;
  return foldCase(path.slice(1)) === docPath && docPath.startsWith(prefixOf(folder));
}

/** The folder's files, as the Cloud lists them. What is not of the folder, or of two files, is passed by and told. */
export async function* cloudFilesOf(
  folder: Pick<FolderSync, 'roots' | 'files'>,
  signal?: AbortSignal,
  onOdd: (file: CloudFile) => void = () => undefined,
): AsyncGenerator<CloudFile> {
  for await (const file of folder.files.list({ prefix: prefixOf(folder), ...(signal && { signal }) })) {
    if (isOfFolder(folder, file)) yield file;
    else onOdd(file);
  }
}

function prefixOf(folder: Pick<FolderSync, 'roots'>): string {
  return `${foldCase(rootOf(folder).name)}/`;
}
