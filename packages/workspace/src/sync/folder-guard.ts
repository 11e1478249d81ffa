import { readdirSync, statSync } from 'node:fs';
import type { WorkspaceRoot } from '../disk/located-path.js';

/** The folder is not the one that it was: moved away, or another disk mounted in its place. */
export class FolderReplaced extends Error {
  constructor(directory: string) {
    super(`${directory} is another folder than a moment ago; nothing of it was sent or deleted.`);
  }
}

/**
 * What tells a folder from another that takes its place: its device and inode, and where the file system tells it, its birth,
 * since many give the inode of a folder that was removed to the next one. To be compared by `isSameFolder`.
 */
export function identityOf({ directory }: Pick<WorkspaceRoot, 'directory'>): string {
  const { dev, ino, birthtimeNs, ctimeNs } = statSync(directory, { bigint: true });
  // Where no birth is known Node has the last change in its place; a folder in which nothing has happened yet looks the same.
  const isKnown = birthtimeNs > 0n && birthtimeNs < ctimeNs;
  return isKnown ? `${dev}:${ino}:${birthtimeNs}` : `${dev}:${ino}`;
}

/** Whether two identities are those of one folder. A birth that only one of them knows tells nothing. */
export function isSameFolder(one: string, other: string): boolean {
  const [dev, ino, birth] = one.split(':');
  const [otherDev, otherIno, otherBirth] = other.split(':');
  const isOtherBirth = birth !== undefined && otherBirth !== undefined && birth !== otherBirth;
  return dev === otherDev && ino === otherIno && !isOtherBirth;
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
