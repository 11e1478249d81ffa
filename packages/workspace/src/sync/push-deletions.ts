import { type FileChange, MAX_BATCH_FILES, type RefusedFile } from '@patchbay/protocol';
import { belowRoot, type FolderSync } from './folder-sync.js';
import type { SyncReport } from './sync-report.js';

/**
 * Those of the docPaths, with their base, at which there is no file on the disk any more. One that is there all the
 * same, but ignored, a link or not to be read, is not gone.
 */
export async function findGone(
  { roots, state }: FolderSync,
  unseen: readonly string[],
): Promise<Map<string, string>> {
  if (unseen.length === 0) return new Map();
  const { DiskFinder } = await import('./disk-finder.js');
  const finder = new DiskFinder(roots);
  const gone = new Map<string, string>();
  for (const docPath of unseen) {
    const found = await finder.find(docPath).catch(() => docPath);
    if (found === null) gone.set(docPath, state.baseOf(docPath)!);
  }
  return gone;
}

/** Deletes in the Cloud what is gone here and still its base there; without `delete` it only says so. */
export async function deleteGone(
  sync: FolderSync,
  gone: ReadonlyMap<string, string>,
  report: SyncReport,
): Promise<void> {
  if (!sync.delete) {
    for (const docPath of gone.keys()) {
      report.kept.push({
        path: belowRoot(docPath),
        reason: 'was deleted here; --delete deletes it in the Cloud',
      });
    }
    return;
  }
  const changes = [...gone].map(([path, baseSha256]): FileChange => ({ path, deleted: true, baseSha256 }));
  for (let from = 0; from < changes.length; from += MAX_BATCH_FILES) {
    await deleteThere(sync, changes.slice(from, from + MAX_BATCH_FILES), report);
  }
}

async function deleteThere(
  sync: FolderSync,
  changes: readonly FileChange[],
  report: SyncReport,
): Promise<void> {
  const answers = await sync.files.commit(changes, sync.signal);
  const again: FileChange[] = [];
  answers.forEach((answer, at) => {
    const change = changes[at]!;
    const current = 'error' in answer ? currentOf(answer) : null;
    if ('error' in answer && current !== null && sync.force) again.push({ ...change, baseSha256: current });
    else settle(sync, change.path, answer, report);
  });
  await sync.state.save();
  if (again.length > 0) await deleteThere({ ...sync, force: false }, again, report);
}

function settle(
  { state }: FolderSync,
  docPath: string,
  answer: object | RefusedFile,
  report: SyncReport,
): void {
  const path = belowRoot(docPath);
  if (!('error' in answer)) {
    report.deleted += 1;
    state.noteBase(docPath, null);
  } else if (answer.error.code !== 'STALE') report.faults.push({ path, reason: answer.error.message });
  // It is gone on both sides.
  else if (currentOf(answer) === null) state.noteBase(docPath, null);
  else report.conflicts.push({ path, reason: 'was deleted here, and changed in the Cloud since' });
}

function currentOf({ error }: RefusedFile): string | null {
  return error.code === 'STALE' ? error.currentSha256 : null;
}
