import { realpath, stat } from 'node:fs/promises';
import { basename, join, resolve, sep } from 'node:path';

import { docPathFault, foldCase } from '@patchbay/protocol';

import type { LocatedPath, WorkspaceRoot } from './located-path.js';
import { splitRelativePath } from './relative-path.js';
import { WorkspaceFault } from './workspace-fault.js';

/** The connected folders of a client. Names are unique, ignoring case. */
export class WorkspaceRoots {
  private constructor(
    readonly all: readonly WorkspaceRoot[],
    private readonly reserved: readonly string[],
  ) {}

  /**
   * Opens the folders. A name defaults to the folder's own. No path may lead into a `reserved` folder: pass
   * PATCHBAY_HOME, which holds credentials and may lie inside a connected folder.
   * @throws Error with a message for the terminal if a folder is missing, is not a folder, or two have the same name
   */
  static async open(
    folders: readonly { directory: string; name?: string }[],
    reserved: readonly string[] = [],
  ): Promise<WorkspaceRoots> {
    if (folders.length === 0) throw new Error('No workspace folder is given.');
    const roots = await Promise.all(folders.map(openRoot));
    const seen = new Map<string, WorkspaceRoot>();
    for (const root of roots) {
      const other = seen.get(foldCase(root.name));
      if (other) {
        throw new Error(
          `Two workspace folders have the name "${root.name}": ${other.directory} and ${root.directory}. Name one.`,
        );
      }
      seen.set(foldCase(root.name), root);
    }
    return new WorkspaceRoots(roots, await Promise.all(reserved.map(reservedPrefix)));
  }

  /**
   * Checks a path lexically and finds its root [CREATE-2]. A first component that names a root, in any case, selects
   * it. With a single root, other paths are relative to it. Does not touch the disk.
   * @throws WorkspaceFault InvalidPath
   */
  locate(path: string): LocatedPath {
    const components = splitRelativePath(path, (name) => this.named(foldCase(name)) !== undefined);
    const [first, ...rest] = components;
    const named = this.named(foldCase(first!));
    if (named && rest.length === 0) {
      throw new WorkspaceFault(
        'InvalidPath',
        `The path names the workspace folder ${named.name}, not a file.`,
      );
    }
    if (named) return this.below(named, rest, [named.name, ...rest].join('/'));
    if (this.all.length === 1) return this.below(this.all[0]!, components, components.join('/'));
    const known = this.all.map(({ name }) => name).join(', ');
    throw new WorkspaceFault(
      'InvalidPath',
      `The path must begin with one of the workspace's folders: ${known}.`,
    );
  }

  /**
   * The same for a path below a known root.
   * @throws WorkspaceFault InvalidPath
   */
  locateIn(root: WorkspaceRoot, path: string): LocatedPath {
    const segments = splitRelativePath(path);
    return this.below(root, segments, [root.name, ...segments].join('/'));
  }

  /** The root of a docPath's first component; undefined if there is none. */
  named(docPath: string): WorkspaceRoot | undefined {
    return this.all.find(({ name }) => foldCase(name) === docPath);
  }

  private below(root: WorkspaceRoot, segments: readonly string[], requested: string): LocatedPath {
    const target = foldCase(join(root.directory, ...segments)) + sep;
    if (this.reserved.some((prefix) => target.startsWith(prefix))) {
      throw new WorkspaceFault('InvalidPath', "The path leads into Patchbay's own folder.");
    }
    return { root, segments, path: [root.name, ...segments].join('/'), requested };
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
