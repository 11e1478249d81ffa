import { foldCase } from '@patchbay/protocol';
import type { FileSystem } from './file-system.js';
import { openDirectory } from './open-directory.js';
import { diskFault, errnoOf, RootMissing, WorkspaceFault } from './workspace-fault.js';
import type { WorkspaceRoot } from './located-path.js';

/** Names of a folder's entries by their case-folded form. */
type Listing = ReadonlyMap<string, readonly string[]>;

/**
 * Finds how the components of docPaths are spelled on the disk. It caches listings, so use a new instance for each
 * operation.
 */
export class FolderListings {
  private readonly listings = new Map<string, Promise<Listing>>();

  constructor(private readonly fs: FileSystem) {}

  /**
   * All local paths that match a docPath below a root, including names that differ only by case. If none matches, the
   * path at which the file would be created.
   */
  async candidatesOf(root: WorkspaceRoot, segments: readonly string[]): Promise<string[][]> {
    const found = await this.longestExisting(root, segments);
    return found.map((place) => [...place, ...segments.slice(place.length)]);
  }

  /**
   * The longest existing part of a docPath below a root, in the spelling of the disk. Several results differ only by
   * case and have equal length.
   */
  async longestExisting(root: WorkspaceRoot, segments: readonly string[]): Promise<string[][]> {
    let found: string[][] = [[]];
    for (const segment of segments) {
      const deeper = await this.childrenOf(root, found, segment);
      if (deeper.length === 0) return found;
      found = deeper;
    }
    return found;
  }

  /**
   * All existing local paths of a docPath. Follows each matching folder, so that names that differ only by case are
   * found at any depth.
   */
  async matches(root: WorkspaceRoot, segments: readonly string[]): Promise<string[][]> {
    let found: string[][] = [[]];
    for (const segment of segments) found = await this.childrenOf(root, found, segment);
    return found;
  }

  private async childrenOf(
    root: WorkspaceRoot,
    folders: readonly string[][],
    segment: string,
  ): Promise<string[][]> {
    const deeper = folders.map(async (folder) => {
      const names = (await this.listingOf(root, folder)).get(segment) ?? [];
      return names.map((name) => [...folder, name]);
    });
    return (await Promise.all(deeper)).flat();
  }

  private listingOf(root: WorkspaceRoot, folder: readonly string[]): Promise<Listing> {
    const key = [root.directory, ...folder].join('\0');
    const known = this.listings.get(key) ?? this.list(root, folder);
    this.listings.set(key, known);
    return known;
  }

  private async list(root: WorkspaceRoot, folder: readonly string[]): Promise<Listing> {
    const listing = new Map<string, string[]>();
    const directory = await openDirectory(this.fs, root.directory, folder).catch(unlessNoFolder);
    if (!directory) return listing;
    try {
      for (const name of await this.fs.readdir(directory.entry('.'))) {
        const folded = foldCase(name);
        listing.set(folded, [...(listing.get(folded) ?? []), name]);
      }
      return listing;
    } catch (error) {
      throw diskFault('WriteFailed', 'A folder of the path could not be listed', error);
    } finally {
      await directory.close();
    }
  }
}

/** A component that is a file has nothing below it. */
function unlessNoFolder(error: unknown): null {
  const isNoFolder = error instanceof WorkspaceFault && error.code === 'DirectoryCreateFailed';
  if (isNoFolder && !(error instanceof RootMissing)) {
    const errno = errnoOf(error.cause);
    if (errno === null || errno === 'ENOTDIR') return null;
  }
  throw error;
}
