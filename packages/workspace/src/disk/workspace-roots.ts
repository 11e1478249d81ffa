import { realpath, stat } from 'node:fs/promises';
import { basename, join, resolve, sep } from 'node:path';

import { docPathFault, foldCase } from '@patchbay/protocol';

import { splitRelativePath } from './relative-path.js';
import { WorkspaceFault } from './workspace-fault.js';

/** A connected folder. `directory` is its absolute real path; `name` is its docPaths' first component. */
export interface WorkspaceRoot {
  readonly name: string;
  readonly directory: string;
}

/** Where a create path points: a root, the components below it, and the path as results show it. */
export interface LocatedPath {
  readonly root: WorkspaceRoot;
  readonly segments: readonly string[];
  /** Forward slashes; begins with the root's name where several roots are connected. */
  readonly path: string;
}

/** The folders that a client has connected; one or several, each name once (case aside). */
export class WorkspaceRoots {
  private constructor(
    readonly all: readonly WorkspaceRoot[],
    private readonly reserved: readonly string[],
  ) {}

  /**
   * Opens the folders. A name defaults to the folder's own. No path leads into a `reserved` folder: give PATCHBAY_HOME,
   * which lies in the workspace of someone who connects their home folder, and holds credentials.
   * @throws Error, its message meant for the terminal, where a folder is missing, is no folder, or a name occurs twice.
   */
  static async open(
    folders: readonly { directory: string; name?: string }[],
    reserved: readonly string[] = [],
  ): Promise<WorkspaceRoots> {
    if (folders.length === 0) throw new Error('No workspace folder is given.');
    const roots = await Promise.all(folders.map(openRoot));
    const seen = new Map<string, WorkspaceRoot>();
    for (const root of roots) {
      const twin = seen.get(foldCase(root.name));
      if (twin) {
        throw new Error(
          `Two workspace folders have the name "${root.name}": ${twin.directory} and ${root.directory}. Name one.`,
        );
      }
      seen.set(foldCase(root.name), root);
    }
    return new WorkspaceRoots(roots, await Promise.all(reserved.map(reservedPrefix)));
  }

  /**
   * Checks a create path lexically and finds its root [CREATE-2]. Touches no disk.
   * A root is recognised in any case, as names differ by more than case; results show its own spelling.
   * @throws WorkspaceFault InvalidPath
   */
  locate(path: string): LocatedPath {
    const located = this.locateAnywhere(path);
    const target = foldCase(join(located.root.directory, ...located.segments)) + sep;
    if (this.reserved.some((prefix) => target.startsWith(prefix))) {
      throw new WorkspaceFault('InvalidPath', "The path leads into Patchbay's own folder.");
    }
    return located;
  }

  private locateAnywhere(path: string): LocatedPath {
    const components = splitRelativePath(path);
    if (this.all.length === 1) {
      return { root: this.all[0]!, segments: components, path: components.join('/') };
    }
    const [rootName, ...segments] = components;
    const root = this.all.find((candidate) => foldCase(candidate.name) === foldCase(rootName!));
    const known = this.all.map((candidate) => candidate.name).join(', ');
    if (!root) {
      throw new WorkspaceFault(
        'InvalidPath',
        `The path must begin with one of the workspace's folders: ${known}.`,
      );
    }
    if (segments.length === 0)
      throw new WorkspaceFault('InvalidPath', 'The path names a workspace folder, no file.');
    return { root, segments, path: [root.name, ...segments].join('/') };
  }
}

async function openRoot(folder: { directory: string; name?: string }): Promise<WorkspaceRoot> {
  const directory = await realpath(folder.directory).catch(() => {
    throw new Error(`The workspace folder ${folder.directory} does not exist.`);
  });
  if (!(await stat(directory)).isDirectory()) throw new Error(`${folder.directory} is not a folder.`);
  const name = folder.name ?? basename(directory);
  if (docPathFault(foldCase(name)) || name.includes('/')) {
    throw new Error(
      `"${name}" cannot be the name of a workspace folder (${directory}). Give it another name.`,
    );
  }
  return { name, directory };
}

async function reservedPrefix(directory: string): Promise<string> {
  return foldCase(await realpath(directory).catch(() => resolve(directory))) + sep;
}
