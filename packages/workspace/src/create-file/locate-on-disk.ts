import { realFileSystem } from '../disk/file-system.js';
import { FolderListings } from '../disk/folder-listings.js';
import { docPathOf, type LocatedPath } from '../disk/located-path.js';
import type { WorkspaceContext } from '../disk/workspace-context.js';
import { fileExists, WorkspaceFault } from '../disk/workspace-fault.js';
import { hiddenForCall } from '../visible/hidden-doc-paths.js';
import { refusalText } from '../visible/hidden.js';
import type { CreateFilePlan } from './create-file-plan.js';

/**
 * Rejects a path that must not be seen, before any look at the disk, so that the answer does not depend on whether a
 * file exists [CREATE-1].
 * @throws WorkspaceFault FORBIDDEN
 */
export async function refuseHidden(context: WorkspaceContext, { located }: CreateFilePlan): Promise<void> {
  const docPath = docPathOf(located);
  const why = (await hiddenForCall(context, [docPath])).get(docPath);
  if (why) throw new WorkspaceFault('FORBIDDEN', refusalText(why));
}

/**
 * Returns the plan in the spelling of the disk: an existing file or folder that differs only by case or Unicode form
 * is used [CREATE-2].
 * @throws WorkspaceFault FileExists, InvalidPath if several names match, and those of `openDirectory`
 */
export async function planOnDisk(context: WorkspaceContext, plan: CreateFilePlan): Promise<CreateFilePlan> {
  const located = await locateOnDisk(context, plan.located, plan.overwrite);
  return {
    ...plan,
    located,
    folder: located.segments.slice(0, -1),
    name: located.segments.at(-1)!,
  };
}

/** The same for a path. */
export async function locateOnDisk(
  { fs = realFileSystem }: WorkspaceContext,
  located: LocatedPath,
  overwrite = true,
): Promise<LocatedPath> {
  const { root, segments } = located;
  const folded = docPathOf(located).split('/').slice(1);
  const found = await new FolderListings(fs).longestExisting(root, folded);
  const [first, second] = found;
  const depth = first!.length;
  const requestedPath = segments.slice(0, depth).join('/');
  const isFile = depth === segments.length;
  if (isFile && second && !overwrite) throw fileExists();
  // A new file may go into either of two matching folders, so the requested spelling decides.
  const exact = isFile ? undefined : found.find((place) => place.join('/') === requestedPath);
  if (second && !exact) throw ambiguous(first!, second);
  const spelt = [...(exact ?? first!), ...segments.slice(depth)];
  return { ...located, segments: spelt, path: [root.name, ...spelt].join('/') };
}

function ambiguous(one: readonly string[], other: readonly string[]): WorkspaceFault {
  return new WorkspaceFault(
    'InvalidPath',
    `"${one.join('/')}" and "${other.join('/')}" differ only by case or Unicode form, so the path could mean either. Ask the user to rename one.`,
  );
}
