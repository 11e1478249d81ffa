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
    for (const { here, there } of state.spellings) this.addFolders(here, there);
  }

  /** The Cloud path for a new file. */
  pathOf(path: string): string {
    for (let at = path.lastIndexOf('/'); at !== -1; at = path.lastIndexOf('/', at - 1)) {
      const folder = this.folders.get(path.slice(0, at));
      if (folder !== undefined) return folder + path.slice(at);
    }
    return `/${this.rootName}/${path}`;
  }

  private addFolders(here: string, there: string): void {
    let [at, cloudAt] = [here.lastIndexOf('/'), there.lastIndexOf('/')];
    while (at > 0) {
      this.folders.set(here.slice(0, at), there.slice(0, cloudAt));
      [at, cloudAt] = [here.lastIndexOf('/', at - 1), there.lastIndexOf('/', cloudAt - 1)];
    }
  }
}

/**
 * Applies the components that differ between `before` and `after` to `path`; its other components keep their spelling.
 * All three have equally many components.
 */
function followed(path: string, before: string, after: string): string {
  const [was, is] = [before.split('/'), after.split('/')];
  return path
    .split('/')
    .map((part, at) => (was[at] === is[at] ? part : is[at]!))
    .join('/');
}

/** The Cloud path of a file that was renamed locally to `path`. */
export function renamedThere(path: string, { here, there }: Names): string {
  const root = there.slice(0, there.indexOf('/', 1) + 1);
  return root + followed(there.slice(root.length), here, path);
}

/** The relative path that a local file should have after it was renamed to `there` in the Cloud. */
export function renamedHere(path: string, there: string, names: Names): string {
  return followed(path, belowRoot(names.there.slice(1)), belowRoot(there.slice(1)));
}

/** Whether two Cloud paths are the same below their root folder, whose spelling may differ. */
export function isSameName(one: string, other: string): boolean {
  return belowRoot(one.slice(1)) === belowRoot(other.slice(1));
}

/** The side that has renamed a file by case since both had `names`. */
export type Renaming = 'none' | 'here' | 'there' | 'both';

/** @param here relative local path @param there Cloud path */
export function renamingOf(here: string, there: string, names: Names): Renaming {
  if (isNamed(here, there)) return 'none';
  if (isSameName(there, names.there)) return here === names.here ? 'none' : 'here';
  if (here === renamedHere(names.here, there, names)) return 'none';
  return here === names.here ? 'there' : 'both';
}

/** Whether both sides spell a file alike. The Cloud stores names in NFC only. */
export function isNamed(here: string, there: string): boolean {
  return here.normalize('NFC') === belowRoot(there.slice(1));
}
