import { foldCase } from '@patchbay/protocol';
import type { FileSystem } from './file-system.js';
import { openDirectory } from './open-directory.js';
import { diskFault, errnoOf, RootGone, WorkspaceFault } from './workspace-fault.js';
import type { WorkspaceRoot } from './located-path.js';

/** Names of a folder's entries, by their folded form. */
type Listing = ReadonlyMap<string, readonly string[]>;

/** How the components of docPaths are spelt on the disk. It remembers what it has listed: use one for one look at the disk. */
export class FolderListings {
  private readonly listings = new Map<string, Promise<Listing>>();

  constructor(private readonly fs: FileSystem) {}

  /**
   * Every place that a docPath below a root may mean, as it is spelt: all that fit, twins too; where none does, the place
   * at which its file would be.
   */
  async placesOf(root: WorkspaceRoot, segments: readonly string[]): Promise<string[][]> {
    const found = await this.reach(root, segments);
    return found.map((place) => [...place, ...segments.slice(place.length)]);
  }

  /** As much of a docPath below a root as is there, as it is spelt: one place for each way, all equally long. */
  async reach(root: WorkspaceRoot, segments: readonly string[]): Promise<string[][]> {
    let found: string[][] = [[]];
    for (const segment of segments) {
      const deeper = await this.deeperIn(root, found, segment);
      if (deeper.length === 0) return found;
      found = deeper;
    }
    return found;
  }

  /** Every place that is there. All folders that fit are followed, so that a twin is noticed wherever the case differs. */
  async matches(root: WorkspaceRoot, segments: readonly string[]): Promise<string[][]> {
    let found: string[][] = [[]];
    for (const segment of segments) found = await this.deeperIn(root, found, segment);
    return found;
  }

  private async deeperIn(
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

/** A file where the path needs a folder: nothing lies below it. */
function unlessNoFolder(error: unknown): null {
  const isNoFolder = error instanceof WorkspaceFault && error.code === 'DirectoryCreateFailed';
  if (isNoFolder && !(error instanceof RootGone)) {
    const errno = errnoOf(error.cause);
    if (errno === null || errno === 'ENOTDIR') return null;
  }
  throw error;
}
