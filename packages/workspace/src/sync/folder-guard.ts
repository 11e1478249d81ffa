import { readdirSync } from 'node:fs';
import { identityOf, isSameFolder } from '@patchbay/client/home';
import type { WorkspaceRoot } from '../disk/located-path.js';

export { identityOf, isSameFolder };

/** The folder is not the one that it was: moved away, or another disk mounted in its place. */
export class FolderReplaced extends Error {
  constructor(directory: string) {
    super(`${directory} was replaced by another folder; nothing of it was sent or deleted.`);
  }
}

/** Keeps what takes a folder's place, a clone of another project or the place of a disk that is gone, from being taken for it. */
export class FolderGuard {
  private readonly identity: string;

  constructor(private readonly root: WorkspaceRoot) {
    this.identity = identityOf(root);
  }

  /** @throws FolderReplaced where it is another folder than it was; a system error where there is none. */
  check(): void {
    if (!isSameFolder(identityOf(this.root), this.identity)) throw new FolderReplaced(this.root.directory);
  }

  /** A folder that is empty all at once is rather a disk that is not there than the work of a person. */
  get isEmpty(): boolean {
    return readdirSync(this.root.directory).length === 0;
  }
}
