import { toDocPath } from '@patchbay/protocol';
import type { FolderLedger } from '../disk/folder-ledger.js';
import type { LiveFolder } from './live-folder.js';

/** Combines several folders into one ledger. A docPath outside of all folders is ignored. */
export function ledgerOf(folders: readonly LiveFolder[]): FolderLedger {
  const folderOf = (docPath: string) => folders.find((folder) => folder.has(docPath));
  return {
    whileWriting: (docPaths, work, signal) =>
      folders.reduceRight<typeof work>(
        (inner, folder) => () => folder.whileWriting(docPaths, inner, signal),
        work,
      )(),
    uploadChanged: async (docPaths) => {
      for (const folder of folders) await folder.uploadChanged(docPaths);
    },
    baseOf: (docPath) => folderOf(docPath)?.baseOf(docPath) ?? null,
    isInCloud: (docPath, sha256) => folderOf(docPath)?.isInCloud(docPath, sha256) ?? true,
    noteSending: async (docPath, sha256) => folderOf(docPath)?.noteSending(docPath, sha256),
    cloudPathOf: (path) => folderOf(toDocPath(path))?.cloudPathOf(path) ?? path,
    noteUploaded: async (file, cloudPath) => folderOf(file.docPath)?.noteUploaded(file, cloudPath),
  };
}
