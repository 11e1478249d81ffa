import { statSync } from 'node:fs';
import type { WorkspaceRoot } from '../disk/workspace-roots.js';

/** The folder is not the one that it was: moved away, or another disk mounted in its place. */
export class FolderReplaced extends Error {
  constructor(directory: string) {
    super(`${directory} is another folder than a moment ago; nothing of it was sent or deleted.`);
  }
}

/** What tells a folder from another that takes its place: its device and inode. */
export function identityOf({ directory }: Pick<WorkspaceRoot, 'directory'>): string {
  const { dev, ino } = statSync(directory, { bigint: true });
  return `${dev}:${ino}`;
}
