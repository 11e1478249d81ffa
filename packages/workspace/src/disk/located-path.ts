import { toDocPath } from '@patchbay/protocol';

/**
 * A connected folder. `directory` is its absolute real path; `name` is the first component of its files' workspace
 * paths.
 */
export interface WorkspaceRoot {
  readonly name: string;
  readonly directory: string;
}

/** A resolved path: a root and the components below it. */
export interface LocatedPath {
  readonly root: WorkspaceRoot;
  readonly segments: readonly string[];
  /** The workspace path `<root name>/<path below it>`, in the spelling of the disk as far as known. */
  readonly path: string;
  /** The normalized path as the caller gave it, with or without the root's name. */
  readonly requested: string;
}

/** The key of a file in the Cloud and in all tools. */
export function docPathOf({ path }: Pick<LocatedPath, 'path'>): string {
  return toDocPath(path);
}
