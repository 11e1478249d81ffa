import type { FileSystem } from '../disk/file-system.js';
import { FolderListings } from '../disk/folder-listings.js';
import type { LocatedPath } from '../disk/located-path.js';
import type { WorkspaceRoots } from '../disk/workspace-roots.js';
import { notFound, PatchFileFault } from './patch-file-fault.js';

/**
 * Finds the local files of docPaths, whatever case and Unicode form their names have on disk.
 * It remembers what it has listed: use one for one look at the disk.
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
   * The file in its real case. Nothing is said about what it is: a link and a folder are found too.
   * @throws PatchFileFault NOT_FOUND, AmbiguousDocPath; WorkspaceFault InvalidPath and those of `openDirectory`
   */
  async find(docPath: string): Promise<LocatedPath> {
    const [rootName, ...segments] = docPath.split('/');
    const root = this.roots.named(rootName!);
    if (!root || segments.length === 0) throw notFound(docPath);
    // Before any look at the disk: what may not be reached is not to be explored either.
    this.roots.locateIn(root, segments.join('/'));
    const [found, twin] = await this.folders.matches(root, segments);
    if (!found) throw notFound(docPath);
    if (twin) {
      throw new PatchFileFault(
        'AmbiguousDocPath',
        `"${found.join('/')}" and "${twin.join('/')}" differ only by case, so "${docPath}" could be either. Ask the user to rename one.`,
      );
    }
    return this.roots.locateIn(root, found.join('/'));
  }
}
