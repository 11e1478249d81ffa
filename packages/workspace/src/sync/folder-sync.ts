import type { WorkspaceFiles } from '@patchbay/client';
import type { WorkspaceRoot, WorkspaceRoots } from '../disk/workspace-roots.js';
import type { Progress } from './progress.js';
import type { SyncState } from './sync-state.js';

/** A folder, the Cloud files that it is synced with, and how. */
export interface FolderSync {
  files: WorkspaceFiles;
  /** One folder. */
  roots: WorkspaceRoots;
  state: SyncState;
  maxFileBytes: number;
  /** Real paths of folders to leave out: PATCHBAY_HOME. */
  exclude: readonly string[];
  /** Overwrites what has changed on the other side. */
  force: boolean;
  /** Deletes on the other side what was deleted on this one, if it is still what it was. */
  delete: boolean;
  /** Says what it would do, and does nothing. */
  dryRun: boolean;
  progress: Progress;
  signal?: AbortSignal | undefined;
}

export function rootOf({ roots }: Pick<FolderSync, 'roots'>): WorkspaceRoot {
  return roots.all[0]!;
}

/** Relative path of a docPath of the folder. */
export function belowRoot(docPath: string): string {
  return docPath.slice(docPath.indexOf('/') + 1);
}
