import type { WorkspaceFiles } from '@patchbay/client';
import type { SecretFiles } from '../disk/secret-files.js';
import type { WorkspaceRoot } from '../disk/located-path.js';
import type { WorkspaceRoots } from '../disk/workspace-roots.js';
import type { Progress } from './progress.js';
import type { FolderScan } from './scan-folder.js';
import type { FolderState } from './folder-state.js';
import type { PathClaims } from './path-claims.js';
import type { Settling } from './settling.js';

/** A folder, its Cloud files, and the options of a sync. */
export interface FolderSync {
  files: WorkspaceFiles;
  /** Exactly one folder. */
  roots: WorkspaceRoots;
  state: FolderState;
  maxFileBytes: number;
  /** Real paths of folders to leave out, such as PATCHBAY_HOME. */
  exclude: readonly string[];
  /** Files that a push does not send. */
  secrets: SecretFiles;
  /** Makes the other side equal to this one, regardless of the state. */
  force: boolean;
  /** Deletes files on the other side that were deleted on this one, if they did not change there. */
  delete: boolean;
  /** Only reports what would be done. */
  dryRun: boolean;
  /** Selects docPaths; all if undefined. */
  only?: (docPath: string) => boolean;
  /**
   * The version of the single file of this pull that the user was shown. Nothing is written if its text, path or mode
   * in the Cloud has changed since. Only the text is pulled; name and mode stay.
   */
  expects?: ShownFile;
  /** Called with the result of the scan. */
  onScan?: (scan: FolderScan) => void;
  /** Also counts the files that git ignores, which requires a walk through all of them. */
  countsLeftOut?: boolean;
  /** Prevents concurrent writes and uploads of a file in this process. */
  claims?: PathClaims;
  /** Delays files that are being written; without it, all files are sent at once. */
  settling?: Settling;
  progress: Progress;
  signal?: AbortSignal | undefined;
}

/** A version of a Cloud file as the user was shown it. */
export interface ShownFile {
  /** The actual or future local path. */
  path: string;
  cloudPath: string;
  /** sha256 of the Cloud's content; null if there is none. */
  remote: string | null;
  /** Absent if no client has reported a mode. */
  isExecutable?: boolean;
}

export function rootOf({ roots }: Pick<FolderSync, 'roots'>): WorkspaceRoot {
  return roots.all[0]!;
}

/** The relative path of a docPath in the folder. */
export function belowRoot(docPath: string): string {
  return docPath.slice(docPath.indexOf('/') + 1);
}
