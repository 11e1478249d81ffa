import { isIgnoreFile } from '../visible/ignore-file.js';
import { unhiddenFiles } from '../visible/unhidden-files.js';
import { type FolderSync, rootOf } from './folder-sync.js';
import type { PullDeletion, PullWrite } from './pull-plan.js';
import type { Finding } from './sync-report.js';

/** Files that are named. */
const MAX_NAMED = 10;

/** What a pull would do to ignore files. */
type Changes = readonly (PullWrite | PullDeletion)[];

/** The writes and deletions of ignore files among what a pull would do. */
export function ignoreChangesOf(changes: Changes): Changes {
  return changes.filter(({ path }) => isIgnoreFile(path));
}

/**
 * Keeps back changes of ignore files after which files would be sent that are ignored here now: whoever changes the Cloud
 * must not decide that for this machine. `--force` is the person's word for it.
 * @param textOf what a change would leave in the file; null where that is not known
 */
export async function checkIgnoreChanges(
  sync: FolderSync,
  changes: Changes,
  textOf: (change: PullWrite | PullDeletion) => string | null,
): Promise<{ kept: Finding[]; keptBack: ReadonlySet<PullWrite | PullDeletion> }> {
  if (changes.length === 0 || sync.force || sync.expects) return { kept: [], keptBack: new Set() };
  const texts = new Map(changes.map((change) => [change.path, textOf(change)]));
  const known = new Map([...texts].filter((entry): entry is [string, string] => entry[1] !== null));
  const sent = await unhiddenFiles(rootOf(sync), known, sync);
  if (sent.length === 0 && known.size === texts.size) return { kept: [], keptBack: new Set() };
  const reason =
    `differs in the Cloud; with that version ${namesOf(sent)} would be sent from then on: ` +
    '"patchbay pull --force" takes it over';
  return { kept: changes.map(({ path }) => ({ path, reason })), keptBack: new Set(changes) };
}

function namesOf(sent: readonly string[]): string {
  if (sent.length === 0) return 'files that are ignored here';
  const more = sent.length > MAX_NAMED ? ` and ${sent.length - MAX_NAMED} more` : '';
  return `what is ignored here (${sent.slice(0, MAX_NAMED).join(', ')}${more})`;
}
