import type { WorkspaceRoot } from '../disk/located-path.js';
import type { WorkspaceContext } from '../disk/workspace-context.js';
import { isIgnoreFile } from './ignore-file.js';
import { unhiddenFiles } from './unhidden-files.js';

const MAX_NAMED = 10;
/** Longest time in ms for git's answer before the user is asked. */
const MAX_ASKING_MS = 20_000;
const UNKNOWN = 'It is not known whether files that are ignored now would be sent from then on.';

/**
 * Warns about a changed .gitignore before it is approved: the number and names of the files that are ignored now and
 * would be sent afterwards. Undefined if there are none.
 */
export async function ignoreNote(
  { roots, secrets }: Pick<WorkspaceContext, 'roots' | 'secrets'>,
  files: readonly { path: string; after: string }[],
  signal: AbortSignal,
): Promise<string | undefined> {
  const changed = new Map<WorkspaceRoot, Map<string, string>>();
  for (const { path, after } of files) {
    if (!isIgnoreFile(path)) continue;
    const { root, segments } = roots.locate(path);
    changed.set(root, (changed.get(root) ?? new Map<string, string>()).set(segments.join('/'), after));
  }
  if (changed.size === 0) return undefined;
  try {
    const options = { secrets, signal: AbortSignal.any([signal, AbortSignal.timeout(MAX_ASKING_MS)]) };
    const sent: string[] = [];
    for (const [root, changes] of changed)
      for (const path of await unhiddenFiles(root, changes, options)) sent.push(`${root.name}/${path}`);
    return sent.length === 0 ? undefined : noteText(sent);
  } catch {
    signal.throwIfAborted();
    return UNKNOWN;
  }
}

function noteText(paths: readonly string[]): string {
  const what =
    paths.length === 1 ? '1 file that is ignored now' : `${paths.length} files that are ignored now`;
  const more = paths.length > MAX_NAMED ? ` and ${paths.length - MAX_NAMED} more` : '';
  return `${what} would be sent from then on: ${paths.slice(0, MAX_NAMED).join(', ')}${more}.`;
}
