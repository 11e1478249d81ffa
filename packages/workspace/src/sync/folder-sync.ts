import type { WorkspaceFiles } from '@patchbay/client';
import type { SecretFiles } from '../disk/secret-files.js';
import type { WorkspaceRoot } from '../disk/located-path.js';
import type { WorkspaceRoots } from '../disk/workspace-roots.js';
import type { Progress } from './progress.js';
import type { FolderScan } from './scan-folder.js';
import type { FolderState } from './folder-state.js';
import type { PathClaims } from './path-claims.js';
import type { Settling } from './settling.js';

/** A folder, the Cloud files that it is synced with, and how. */
export interface FolderSync {
  files: WorkspaceFiles;
  /** One folder. */
  roots: WorkspaceRoots;
  state: FolderState;
  maxFileBytes: number;
  /** Real paths of folders to leave out: PATCHBAY_HOME. */
  exclude: readonly string[];
  /** Which files a push keeps out of the Cloud. */
  secrets: SecretFiles;
  /** Makes the other side equal to this one, whatever the state believes. */
  force: boolean;
  /** Deletes on the other side what was deleted on this one, if it is still what it was. */
  delete: boolean;
  /** Says what it would do, and does nothing. */
  dryRun: boolean;
  /** Which docPaths it is about; all of the folder where it is left out. */
  only?: (docPath: string) => boolean;
  /**
   * What a person was shown of the one file that a pull is about: it is left alone where the Cloud has another text, path or
   * mode by now. What they have allowed is its text: name and mode stay as they are here.
   */
  expects?: ShownFile;
  /** Told of what was found on the disk. */
  onScan?: (scan: FolderScan) => void;
  /** Counts what git ignores, which takes a look through all of it. */
  tellsLeftOut?: boolean;
  /** Keeps what else this process does with a file out of the way of its being sent. */
  claims?: PathClaims;
  /** Holds back what somebody is writing at this moment; everything is sent at once where it is left out. */
  settling?: Settling;
  progress: Progress;
  signal?: AbortSignal | undefined;
}

/** What a person was shown of a Cloud file. */
export interface ShownFile {
  /** Where it lies here, or would lie. */
  path: string;
  /** Its Cloud path. */
  there: string;
  /** sha256 of what the Cloud has; null: it was deleted there, or never was. */
  remote: string | null;
  /** Whether it may be executed there; absent where no client has said. */
  isExecutable?: boolean;
}

export function rootOf({ roots }: Pick<FolderSync, 'roots'>): WorkspaceRoot {
  return roots.all[0]!;
}

/** Relative path of a docPath of the folder. */
export function belowRoot(docPath: string): string {
  return docPath.slice(docPath.indexOf('/') + 1);
}
