import { type FileChange, MAX_BATCH_FILES, type RefusedFile } from '@patchbay/protocol';
import { hiddenDocPaths } from '../visible/hidden-doc-paths.js';
import type { WorkspaceRoots } from '../disk/workspace-roots.js';
import { belowRoot, type FolderSync } from './folder-sync.js';
import type { SyncReport } from './sync-report.js';

/**
 * Returns the docPaths without a local file, with their bases. Existing files that are ignored, links or unreadable
 * are not deleted. Files that would be ignored are omitted.
 */
export async function findDeleted(
  sync: FolderSync,
  unseen: readonly string[],
  baseOf: (docPath: string) => string | null,
): Promise<Map<string, string>> {
  if (unseen.length === 0) return new Map();
  const wanted = unseen.filter((docPath) => sync.only?.(docPath) !== false);
  const missing = await missingOnDisk(sync.roots, wanted);
  const hidden = await hiddenDocPaths(sync, missing);
  const isGone = (docPath: string) => sync.settling?.isGone(docPath) ?? true;
  const gone = missing.filter((docPath) => !hidden.has(docPath) && isGone(docPath));
  return new Map(gone.map((docPath) => [docPath, baseOf(docPath)!]));
}

async function missingOnDisk(roots: WorkspaceRoots, docPaths: readonly string[]): Promise<string[]> {
  const { DiskFinder } = await import('./disk-finder.js');
  const finder = new DiskFinder(roots);
  const missing: string[] = [];
  for (const docPath of docPaths) {
    if ((await finder.find(docPath).catch(() => docPath)) === null) missing.push(docPath);
  }
  return missing;
}

/**
 * Deletes files in the Cloud that were deleted locally and still are the base there. Without `delete` or `force` it
 * only reports them.
 */
export async function deleteInCloud(
  sync: FolderSync,
  gone: ReadonlyMap<string, string>,
  report: SyncReport,
): Promise<void> {
  if (!sync.delete && !sync.force) {
    for (const docPath of gone.keys()) {
      report.kept.push({
        path: belowRoot(docPath),
        reason: 'was deleted here; --delete deletes it in the Cloud',
      });
    }
    return;
  }
  const free = [...gone.keys()].filter((docPath) => sync.claims?.tryClaim(docPath) !== false);
  try {
    // Checked again under the locks, because a call may have created one meanwhile.
    const missing = await missingOnDisk(sync.roots, free);
    const changes = missing.map((path): FileChange => ({ path, deleted: true, baseSha256: gone.get(path)! }));
    for (let from = 0; from < changes.length; from += MAX_BATCH_FILES) {
      await commitDeletions(sync, changes.slice(from, from + MAX_BATCH_FILES), report);
    }
  } finally {
    for (const docPath of free) sync.claims?.release(docPath);
  }
}

async function commitDeletions(
  sync: FolderSync,
  changes: readonly FileChange[],
  report: SyncReport,
): Promise<void> {
  const answers = await sync.files.commit(changes, sync.signal);
  const again: FileChange[] = [];
  answers.forEach((answer, at) => {
    const change = changes[at]!;
    const current = 'error' in answer ? currentOf(answer) : null;
    if (current !== null && mayDelete(sync, change, current)) again.push({ ...change, baseSha256: current });
    else settle(sync, change.path, answer, report);
  });
  await sync.state.save();
  // Another process may have created one meanwhile.
  const missing = new Set(
    await missingOnDisk(
      sync.roots,
      again.map(({ path }) => path),
    ),
  );
  const left = again.filter(({ path }) => missing.has(path));
  if (left.length > 0) await commitDeletions({ ...sync, force: false }, left, report);
}

/** Whether the Cloud's newer version may be deleted: this folder has sent it, or `force` is set. */
function mayDelete({ state, force }: FolderSync, { path, baseSha256 }: FileChange, current: string): boolean {
  state.refresh();
  return current !== baseSha256 && (force || state.isOwn(path, current));
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
  // Deleted on both sides.
  else if (currentOf(answer) === null) state.noteBase(docPath, null);
  else {
    const reason = 'was deleted here, and changed in the Cloud since';
    report.conflicts.push({ path, docPath, remote: currentOf(answer), reason });
  }
}

function currentOf({ error }: RefusedFile): string | null {
  return error.code === 'STALE' ? error.currentSha256 : null;
}
