import type { FolderState } from './folder-state.js';
import { belowRoot } from './folder-sync.js';
import type { Names } from './state-line.js';

/** The Cloud's spelling of folders, where it differs from the local one. */
export class CloudSpelling {
  private readonly folders = new Map<string, string>();

  constructor(
    private readonly rootName: string,
    state: Pick<FolderState, 'spellings'>,
  ) {
    for (const { localPath, cloudPath } of state.spellings) this.addFolders(localPath, cloudPath);
  }

  /** The Cloud path for a new file. */
  pathOf(path: string): string {
    for (let at = path.lastIndexOf('/'); at !== -1; at = path.lastIndexOf('/', at - 1)) {
      const folder = this.folders.get(path.slice(0, at));
      if (folder !== undefined) return folder + path.slice(at);
    }
    return `/${this.rootName}/${path}`;
  }

  private addFolders(localPath: string, cloudPath: string): void {
    let [at, cloudAt] = [localPath.lastIndexOf('/'), cloudPath.lastIndexOf('/')];
    while (at > 0) {
      this.folders.set(localPath.slice(0, at), cloudPath.slice(0, cloudAt));
      [at, cloudAt] = [localPath.lastIndexOf('/', at - 1), cloudPath.lastIndexOf('/', cloudAt - 1)];
    }
  }
}

/**
 * Applies the components that differ between `before` and `after` to `path`; its other components keep their spelling.
 * All three have equally many components.
 */
function applySpelling(path: string, before: string, after: string): string {
  const [was, is] = [before.split('/'), after.split('/')];
  return path
    .split('/')
    .map((part, at) => (was[at] === is[at] ? part : is[at]!))
    .join('/');
}

/** The Cloud path of a file that was renamed locally to `path`. */
export function renamedInCloud(path: string, { localPath, cloudPath }: Names): string {
  const root = cloudPath.slice(0, cloudPath.indexOf('/', 1) + 1);
  return root + applySpelling(cloudPath.slice(root.length), localPath, path);
}

/** The relative path that a local file should have after it was renamed to `cloudPath` in the Cloud. */
export function renamedLocally(path: string, cloudPath: string, names: Names): string {
  return applySpelling(path, belowRoot(names.cloudPath.slice(1)), belowRoot(cloudPath.slice(1)));
}

/** Whether two Cloud paths are the same below their root folder, whose spelling may differ. */
export function isSameCloudPath(one: string, other: string): boolean {
  return belowRoot(one.slice(1)) === belowRoot(other.slice(1));
}

/** The side that has renamed a file by case since both had `names`. */
export type Renaming = 'none' | 'local' | 'cloud' | 'both';

/** @param localPath relative local path @param cloudPath Cloud path */
export function renamingOf(localPath: string, cloudPath: string, names: Names): Renaming {
  if (isSpelledAlike(localPath, cloudPath)) return 'none';
  if (isSameCloudPath(cloudPath, names.cloudPath)) return localPath === names.localPath ? 'none' : 'local';
  if (localPath === renamedLocally(names.localPath, cloudPath, names)) return 'none';
  return localPath === names.localPath ? 'cloud' : 'both';
}

/** Whether both sides spell a file alike. The Cloud stores names in NFC only. */
export function isSpelledAlike(localPath: string, cloudPath: string): boolean {
  return localPath.normalize('NFC') === belowRoot(cloudPath.slice(1));
}
