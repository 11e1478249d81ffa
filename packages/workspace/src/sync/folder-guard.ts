import { readdirSync } from 'node:fs';
import { identityOf, isSameFolder } from '@patchbay/client/home';
import type { WorkspaceRoot } from '../disk/located-path.js';

export { identityOf, isSameFolder };

/** The folder was moved, or another disk was mounted in its place. */
export class FolderReplaced extends Error {
  constructor(directory: string) {
    super(`${directory} was replaced by another folder; nothing of it was sent or deleted.`);
  }
}

/** Detects that another folder has taken the folder's place, such as another clone or an empty mount point. */
export class FolderGuard {
  private readonly identity: string;

  constructor(private readonly root: WorkspaceRoot) {
    this.identity = identityOf(root);
  }

  /** @throws FolderReplaced if it is another folder; a system error if it is missing. */
  check(): void {
    if (!isSameFolder(identityOf(this.root), this.identity)) throw new FolderReplaced(this.root.directory);
  }

  /** A folder that is suddenly empty is more likely an unmounted disk than a deletion by the user. */
  get isEmpty(): boolean {
    return readdirSync(this.root.directory).length === 0;
  }
}
