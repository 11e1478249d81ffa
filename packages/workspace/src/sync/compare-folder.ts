import type { FolderSync } from './folder-sync.js';
import { pullFolder } from './pull.js';
import { pushFolder } from './push.js';
import type { Finding, SyncReport } from './sync-report.js';

/** A file that one side has changed since the last sync. */
export interface ComparedFile {
  path: string;
  change: 'added' | 'changed' | 'renamed' | 'deleted';
}

/** The differences between a folder and the Cloud, by the side that has changed since the last sync. */
export interface FolderComparison {
  /** Files that a push would send, or delete with `--delete`. */
  here: ComparedFile[];
  /** Files that a pull would write, or delete with `--delete`. */
  inCloud: ComparedFile[];
  /** Changed on both sides. */
  conflicts: Finding[];
  /** Files that were sent before and are never sent now, such as binary files. */
  unsent: Finding[];
  /** Files that could not be compared. */
  faults: Finding[];
}

/** Compares a folder with the Cloud by dry runs of push and pull. Changes neither side. */
export async function compareFolder(
  folder: Omit<FolderSync, 'force' | 'delete' | 'dryRun'>,
): Promise<FolderComparison> {
  const sync = { ...folder, force: false, delete: false, dryRun: true };
  const push = await pushFolder(sync);
  const pull = await pullFolder(sync);
  const here = comparedFiles(push);
  const conflicts = withoutDuplicates([...push.conflicts, ...pull.conflicts]);
  const unsent = withoutDuplicates(push.unsent);
  const reported = new Set([...here, ...conflicts, ...unsent].map(({ path }) => path));
  const inCloud = comparedFiles(pull).filter(({ path }) => !reported.has(path));
  return { here, inCloud, conflicts, unsent, faults: withoutDuplicates([...push.faults, ...pull.faults]) };
}

/** The other entries of `kept` are reported by the other direction, or are never sent. */
function comparedFiles({ planned, kept }: SyncReport): ComparedFile[] {
  return [
    ...planned.map(({ path, reason }): ComparedFile => ({
      path,
      change: changeIn(reason),
    })),
    ...kept
      .filter(({ reason }) => /^was deleted|^is .+ in the Cloud; /.test(reason))
      .map(({ path, reason }): ComparedFile => ({
        path,
        change: reason.startsWith('is ') ? 'renamed' : 'deleted',
      })),
  ];
}

function changeIn(reason: string): ComparedFile['change'] {
  if (reason.endsWith('added')) return 'added';
  return reason.startsWith('would be renamed') ? 'renamed' : 'changed';
}

function withoutDuplicates(findings: readonly Finding[]): Finding[] {
  return [...new Map(findings.map(({ path, reason }) => [path, { path, reason }])).values()];
}
