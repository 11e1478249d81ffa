import type { FilesService, ListedFolder } from '../files/files.service.js';
import type { ListedEntry } from '../storage/ports/files.store.js';
import { literalFolder } from './glob-pattern.js';

/** The files below a folder that a glob could fit, by docPath: it is not looked for where its literal beginning rules it out. */
export function filesIn(
  files: FilesService,
  workspaceId: string,
  { docPath }: ListedFolder,
  glob: string | null,
): AsyncGenerator<ListedEntry[]> {
  const parts = [docPath, glob === null ? '' : literalFolder(glob)].filter((part) => part !== '');
  return files.walk(workspaceId, { docPath: parts.join('/') });
}

/** The docPath of an entry as it is seen from a folder. */
export function relativeTo(folder: ListedFolder, { docPath }: Pick<ListedEntry, 'docPath'>): string {
  return folder.docPath === '' ? docPath : docPath.slice(folder.docPath.length + 1);
}
