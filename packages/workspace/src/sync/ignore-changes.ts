import { isIgnoreFile } from '../visible/ignore-file.js';
import { unhiddenFiles } from '../visible/unhidden-files.js';
import { type FolderSync, rootOf } from './folder-sync.js';
import type { PullDeletion, PullWrite } from './pull-plan.js';
import type { Finding } from './sync-report.js';

const MAX_NAMED = 10;

type Changes = readonly (PullWrite | PullDeletion)[];

/** Selects the writes and deletions of ignore files. */
export function ignoreChangesOf(changes: Changes): Changes {
  return changes.filter(({ path }) => isIgnoreFile(path));
}

/**
 * Holds back changes of ignore files after which files would be sent that are ignored now, because other writers of
 * the Cloud must not decide that. `--force` allows it.
 * @param textOf the text that a change would write; null if unknown
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
    `differs in the Cloud, and with its rules ${namesOf(sent)} would be sent from then on: ` +
    '"patchbay pull --force" accepts it';
  return { kept: changes.map(({ path }) => ({ path, reason })), keptBack: new Set(changes) };
}

function namesOf(sent: readonly string[]): string {
  if (sent.length === 0) return 'files that are ignored here';
  const more = sent.length > MAX_NAMED ? ` and ${sent.length - MAX_NAMED} more` : '';
  return `files that are ignored here (${sent.slice(0, MAX_NAMED).join(', ')}${more})`;
}
