import { toDocPath } from '@patchbay/protocol';

/** A connected folder. `directory` is its absolute real path; `name` is the first component of its files' paths. */
export interface WorkspaceRoot {
  readonly name: string;
  readonly directory: string;
}

/** Where a path points: a root, and the components below it. */
export interface LocatedPath {
  readonly root: WorkspaceRoot;
  readonly segments: readonly string[];
  /** The workspace path `<root name>/<path below it>`, in the spelling of the disk as far as that is known. */
  readonly path: string;
  /** As it was asked for, normalised: with the root's name in front, or without. */
  readonly asked: string;
}

/** What a file is known by to the Cloud, and to every tool that reads or patches. */
export function docPathOf({ path }: Pick<LocatedPath, 'path'>): string {
  return toDocPath(path);
}
