import type { WorkspaceContext } from '../disk/workspace-context.js';
import { realFileSystem } from '../disk/file-system.js';
import { FolderListings } from '../disk/folder-listings.js';
import { WorkspaceFault } from '../disk/workspace-fault.js';
import type { WorkspaceRoot } from '../disk/located-path.js';
import { GitFault } from './git-fault.js';
import { type Hidden, UNKNOWN, UNREADABLE } from './hidden.js';
import { hiddenPaths, type VisibleOptions } from './visible-files.js';

export type HiddenContext = Pick<WorkspaceContext, 'roots' | 'fs'> & VisibleOptions;

/**
 * `hiddenPaths` for docPaths. A docPath that matches several files is hidden if one of them is. Paths outside of all
 * roots, or that cannot be reached, are not in the answer; the caller's own look-up fails for them.
 * @throws GitFault
 */
export async function hiddenDocPaths(
  context: HiddenContext,
  docPaths: Iterable<string>,
): Promise<Map<string, Hidden>> {
  const folders = new FolderListings(context.fs ?? realFileSystem);
  const byRoot = new Map<WorkspaceRoot, { docPath: string; path: string }[]>();
  const hidden = new Map<string, Hidden>();
  for (const docPath of docPaths) {
    const [rootName, ...segments] = docPath.split('/');
    const root = context.roots.named(rootName!);
    if (!root || segments.length === 0) continue;
    const places = await placesOf(context, folders, root, segments);
    if (places === null) hidden.set(docPath, UNREADABLE);
    const queries = byRoot.get(root) ?? [];
    queries.push(...(places ?? []).map((place) => ({ docPath, path: place.join('/') })));
    byRoot.set(root, queries);
  }
  for (const [root, asked] of byRoot) {
    const found = await hiddenPaths(
      root,
      asked.map(({ path }) => path),
      context,
    );
    for (const { docPath, path } of asked) if (found.has(path)) hidden.set(docPath, found.get(path)!);
  }
  return hidden;
}

/** Empty if the path cannot be reached, null if that is unknown. */
async function placesOf(
  { roots }: HiddenContext,
  folders: FolderListings,
  root: WorkspaceRoot,
  segments: readonly string[],
): Promise<string[][] | null> {
  try {
    // Checked before any look at the disk, so that forbidden paths cannot be explored.
    roots.locateIn(root, segments.join('/'));
    return await folders.candidatesOf(root, segments);
  } catch (error) {
    if (!(error instanceof WorkspaceFault)) throw error;
    return error.code === 'WriteFailed' ? null : [];
  }
}

/** The same for a call, which must not fail because of git: if git fails, all files are hidden. */
export async function hiddenForCall(
  context: HiddenContext,
  docPaths: readonly string[],
): Promise<Map<string, Hidden>> {
  try {
    return await hiddenDocPaths(context, docPaths);
  } catch (error) {
    if (!(error instanceof GitFault)) throw error;
    return new Map(docPaths.map((docPath) => [docPath, UNKNOWN]));
  }
}
