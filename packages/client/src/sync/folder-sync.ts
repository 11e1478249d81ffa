import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkspaceFiles } from '../sdk/workspace-files.js';
import { DocPathFinder } from '../workspace/doc-path-finder.js';
import { realFileSystem } from '../workspace/file-system.js';
import { PatchFileFault } from '../workspace/patch-file-fault.js';
import type { WorkspaceRoot, WorkspaceRoots } from '../workspace/workspace-roots.js';
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

/** What is on the disk at a docPath: a relative path; null where no file is, a folder of the name aside. */
export class DiskFinder {
  private readonly finder: DocPathFinder;

  constructor(roots: WorkspaceRoots) {
    this.finder = new DocPathFinder(realFileSystem, roots);
  }

  /** @throws WorkspaceFault InvalidPath for a name that this client refuses, PatchFileFault AmbiguousDocPath. */
  async find(docPath: string): Promise<string | null> {
    try {
      const { root, segments } = await this.finder.find(docPath);
      const stats = lstatSync(join(root.directory, ...segments), { throwIfNoEntry: false });
      return stats === undefined || stats.isDirectory() ? null : segments.join('/');
    } catch (error) {
      if (error instanceof PatchFileFault && error.code === 'NOT_FOUND') return null;
      throw error;
    }
  }
}
