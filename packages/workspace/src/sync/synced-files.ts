import type { FolderState } from './folder-state.js';

/** The files that both sides had: they stay in step although .gitignore names them by now, as files that git tracks do. */
export class SyncedFiles {
  /** docPaths of the folders that have such a file somewhere below, with a slash at the end. */
  private folders: Set<string> | null = null;

  constructor(private readonly state: Pick<FolderState, 'baseOf' | 'bases'>) {}

  hasFile(docPath: string): boolean {
    return this.state.baseOf(docPath) !== null;
  }

  /** Asked only of folders that are ignored. */
  hasFolder(docPath: string): boolean {
    this.folders ??= this.allFolders();
    return this.folders.has(`${docPath}/`);
  }

  private allFolders(): Set<string> {
    const folders = new Set<string>();
    for (const [docPath] of this.state.bases()) {
      for (let at = docPath.lastIndexOf('/'); at > 0; at = docPath.lastIndexOf('/', at - 1)) {
        const folder = docPath.slice(0, at + 1);
        if (folders.has(folder)) break;
        folders.add(folder);
      }
    }
    return folders;
  }
}
