import type { CloudFile } from '@patchbay/protocol';
import { compare } from './compare.js';
import { belowRoot, type FolderSync } from './folder-sync.js';
import { conflictReason, modeReason, renameConflict } from './push-plan.js';
import { isRenamed, modeOf, type Pending } from './push-reader.js';
import type { SyncReport } from './sync-report.js';

/** Reports what a push would do, compared with the Cloud's content. */
export class PushPreview {
  constructor(
    private readonly sync: FolderSync,
    private readonly report: SyncReport,
    private readonly remote: ReadonlyMap<string, CloudFile>,
  ) {}

  deletion(docPath: string, base: string): void {
    const path = belowRoot(docPath);
    if (!this.isDecided(path, docPath, null, base)) return;
    if (this.sync.delete || this.sync.force) this.plan(path, 'would be deleted in the Cloud');
    else this.report.kept.push({ path, reason: 'was deleted here' });
  }

  file(pending: Pending): void {
    const { file, read, base, renamedFrom } = pending;
    const { path, docPath } = file;
    const cloudFile = this.remote.get(docPath);
    const mode = modeOf(pending);
    const isSame = read.sha256 === base && cloudFile?.sha256 === base;
    const isNew = isSame && renamedFrom !== null && !isRenamed(pending, cloudFile.path);
    if (isNew && cloudFile.path === renamedFrom)
      this.plan(path, `would be renamed in the Cloud, from ${belowRoot(renamedFrom.slice(1))}`);
    else if (isNew)
      this.report.conflicts.push(renameConflict(file, cloudFile.sha256, belowRoot(cloudFile.path.slice(1))));
    else if (isSame && mode !== undefined) this.plan(path, modeReason(mode));
    else if (this.isDecided(path, docPath, read.sha256, base))
      this.plan(path, cloudFile === undefined ? 'would be added' : 'would be replaced');
  }

  /** Returns true if the local side wins; otherwise reports the reason. */
  private isDecided(path: string, docPath: string, local: string | null, base: string | null): boolean {
    const remote = this.remote.get(docPath)?.sha256 ?? null;
    const verdict = compare({ local, base, remote });
    if (verdict === 'same') this.report.unchanged += 1;
    else if (verdict === 'changedLocally' || this.sync.force) return true;
    else {
      this.report.conflicts.push({ path, docPath, remote, reason: conflictReason(base, remote) });
    }
    return false;
  }

  private plan(path: string, reason: string): void {
    this.report.planned.push({ path, reason });
  }
}
