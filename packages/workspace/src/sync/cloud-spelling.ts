import type { FolderState } from './folder-state.js';
import { belowRoot } from './folder-sync.js';
import type { Names } from './state-line.js';

/** How the files of a folder are spelt in the Cloud, where they lie in folders that are spelt otherwise there. */
export class CloudSpelling {
  private readonly folders = new Map<string, string>();

  constructor(
    private readonly rootName: string,
    state: Pick<FolderState, 'spellings'>,
  ) {
    for (const { here, there } of state.spellings) this.addFolders(here, there);
  }

  /** Cloud path of a file that the Cloud does not have yet. */
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
 * The path that another gets when the path it stands for changes its spelling from `before` to `after`: what has not
 * changed of that stays as it is spelt. All of them have as many parts.
 */
function followed(path: string, before: string, after: string): string {
  const [was, is] = [before.split('/'), after.split('/')];
  return path
    .split('/')
    .map((part, at) => (was[at] === is[at] ? part : is[at]!))
    .join('/');
}

/** Cloud path of a file that has become `path` here, and was `names`. */
export function renamedThere(path: string, { here, there }: Names): string {
  const root = there.slice(0, there.indexOf('/', 1) + 1);
  return root + followed(there.slice(root.length), here, path);
}

/** Relative path that a file should have which is `path` here and has become `there` in the Cloud. */
export function renamedHere(path: string, there: string, names: Names): string {
  return followed(path, belowRoot(names.there.slice(1)), belowRoot(there.slice(1)));
}

/** Whether two Cloud paths are the same below their folder, which may be spelt otherwise. */
export function isSameName(one: string, other: string): boolean {
  return belowRoot(one.slice(1)) === belowRoot(other.slice(1));
}

/** Which side has renamed a file by case since both had `names`. */
export type Renaming = 'none' | 'here' | 'there' | 'both';

/** @param here relative path on the disk @param there Cloud path */
export function renamingOf(here: string, there: string, names: Names): Renaming {
  if (isNamed(here, there)) return 'none';
  if (isSameName(there, names.there)) return here === names.here ? 'none' : 'here';
  if (here === renamedHere(names.here, there, names)) return 'none';
  return here === names.here ? 'there' : 'both';
}

/** Whether the Cloud spells a file as it is spelt here; it has no Unicode form but NFC. */
export function isNamed(here: string, there: string): boolean {
  return here.normalize('NFC') === belowRoot(there.slice(1));
}
