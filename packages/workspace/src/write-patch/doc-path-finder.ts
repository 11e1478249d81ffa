import type { FileSystem } from '../disk/file-system.js';
import { FolderListings } from '../disk/folder-listings.js';
import type { LocatedPath } from '../disk/located-path.js';
import type { WorkspaceRoots } from '../disk/workspace-roots.js';
import { notFound, PatchFileFault } from './patch-file-fault.js';

/**
 * Finds the local files of docPaths, in any case and Unicode form. It caches listings, so use a new instance for each
 * operation.
 */
export class DocPathFinder {
  private readonly folders: FolderListings;

  constructor(
    fs: FileSystem,
    private readonly roots: WorkspaceRoots,
  ) {
    this.folders = new FolderListings(fs);
  }

  /**
   * The file in the spelling of the disk. The result may also be a link or a folder.
   * @throws PatchFileFault NOT_FOUND, AmbiguousDocPath; WorkspaceFault InvalidPath and those of `openDirectory`
   */
  async find(docPath: string): Promise<LocatedPath> {
    const [rootName, ...segments] = docPath.split('/');
    const root = this.roots.named(rootName!);
    if (!root || segments.length === 0) throw notFound(docPath);
    // Checked before any look at the disk, so that forbidden paths cannot be explored.
    this.roots.locateIn(root, segments.join('/'));
    const [found, second] = await this.folders.matches(root, segments);
    if (!found) throw notFound(docPath);
    if (second) {
      throw new PatchFileFault(
        'AmbiguousDocPath',
        `"${found.join('/')}" and "${second.join('/')}" differ only by case, so "${docPath}" could be either. Ask the user to rename one.`,
      );
    }
    return this.roots.locateIn(root, found.join('/'));
  }
}
