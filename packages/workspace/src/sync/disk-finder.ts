import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { DocPathFinder } from '../write-patch/doc-path-finder.js';
import { realFileSystem } from '../disk/file-system.js';
import { PatchFileFault } from '../write-patch/patch-file-fault.js';
import type { WorkspaceRoots } from '../disk/workspace-roots.js';

/** Finds the relative path of a docPath on the disk; null if there is no file. A folder of that name is not a file. */
export class DiskFinder {
  private readonly finder: DocPathFinder;

  constructor(roots: WorkspaceRoots) {
    this.finder = new DocPathFinder(realFileSystem, roots);
  }

  /** @throws WorkspaceFault InvalidPath for a name that this client rejects, PatchFileFault AmbiguousDocPath. */
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
