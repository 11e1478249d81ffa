import { toDocPath } from '@patchbay/protocol';
import type { FolderLedger } from '../disk/folder-ledger.js';
import type { LiveFolder } from './live-folder.js';

/** Combines several folders into one ledger. A docPath outside of all folders is ignored. */
export function ledgerOf(folders: readonly LiveFolder[]): FolderLedger {
  const folderOf = (docPath: string) => folders.find((folder) => folder.has(docPath));
  return {
    writing: (docPaths, work, signal) =>
      folders.reduceRight<typeof work>(
        (inner, folder) => () => folder.writing(docPaths, inner, signal),
        work,
      )(),
    bringUp: async (docPaths) => {
      for (const folder of folders) await folder.bringUp(docPaths);
    },
    baseOf: (docPath) => folderOf(docPath)?.baseOf(docPath) ?? null,
    isHeld: (docPath, sha256) => folderOf(docPath)?.isHeld(docPath, sha256) ?? true,
    sending: async (docPath, sha256) => folderOf(docPath)?.sending(docPath, sha256),
    cloudPathOf: (path) => folderOf(toDocPath(path))?.cloudPathOf(path) ?? path,
    arrived: async (file, there) => folderOf(file.docPath)?.arrived(file, there),
  };
}
