import { isQuotaExceeded, PatchbayError } from '@patchbay/client';
import {
  type CloudFile,
  type CommittedFile,
  type FileChange,
  MAX_BATCH_FILES,
  type RefusedFile,
} from '@patchbay/protocol';
import { inParallel } from '../disk/in-parallel.js';
import { cloudFilesOf } from './cloud-list.js';
import { isExecutable } from './file-stamp.js';
import { belowRoot, type FolderSync, rootOf } from './folder-sync.js';
import { FolderReplaced, identityOf, isSameFolder } from './folder-guard.js';
import { deleteInCloud, findDeleted } from './push-deletions.js';
import { leftOutFiles, sentBefore } from './left-out-files.js';
import { conflictReason, planForcedPush, planPush, type PushPlan, renameConflict } from './push-plan.js';
import { PushPreview } from './push-preview.js';
import { type Bases, isRenamed, modeOf, type Pending, PushReader } from './push-reader.js';
import { scanFolder } from './scan-folder.js';
import { emptyReport, type Finding, sizeText, type SyncReport } from './sync-report.js';
import { moveToUnsent } from './unsent-files.js';
import { uploadMissing } from './upload-blobs.js';

const BATCHES_AT_ONCE = 3;
/** Attempts per file if its blob or base has changed meanwhile. */
const TRIES = 4;

/**
 * Sends the folder's text files to the Cloud. Each file names the head that it is based on, so newer versions are not
 * overwritten and the Cloud need not be listed. Commits are saved at once, so that an interrupted push continues where
 * it stopped. A full quota ends the push. With `force`, the Cloud's files are listed and made equal to the local ones.
 */
export async function pushFolder(sync: FolderSync): Promise<SyncReport> {
  const report = emptyReport();
  const { state, force, only } = sync;
  try {
    const identity = identityOf(rootOf(sync));
    const scan = await scanFolder(rootOf(sync), sync);
    sync.onScan?.(scan);
    const files = only ? scan.files.filter(({ docPath }) => only(docPath)) : scan.files;
    const remote = force || sync.dryRun ? await listRemote(sync) : null;
    const plan = force ? planForcedPush(files, state, remote!) : planPush(files, state);
    report.unchanged = plan.unchanged;
    report.skipped.push(...scan.skipped);
    report.kept.push(...scan.notes);
    report.faults.push(...scan.faults);
    const isInCloud = (docPath: string) => (remote?.get(docPath)?.sha256 ?? state.baseOf(docPath)) !== null;
    if (sync.countsLeftOut) {
      report.leftOut = await leftOutFiles(rootOf(sync), scan.leftOut, sync.signal);
      report.kept.push(...sentBefore(rootOf(sync), report.leftOut, state));
    }
    report.secrets.push(...scan.secrets.map(({ path, docPath }) => secretFinding(path, isInCloud(docPath))));
    const bases = remote !== null && force ? basesIn(remote) : state;
    const baseOf = (docPath: string) => bases.baseOf(docPath);
    const binary = plan.binary
      .filter(({ docPath }) => baseOf(docPath) !== null)
      .map(({ docPath }) => docPath);
    report.skipped.push(...plan.binary.map(({ path, reason }) => ({ path, reason })));
    moveToUnsent(sync, report, [...plan.unseen, ...binary], baseOf);
    const deleted = await findDeleted(sync, plan.unseen, baseOf);
    if (!isSameFolder(identityOf(rootOf(sync)), identity)) throw new FolderReplaced(rootOf(sync).directory);
    const work = new Push(sync, report, plan, bases);
    if (remote !== null && sync.dryRun) await work.preview(deleted, remote);
    else {
      for (const { docPath, sha256, isExecutable: mode, names } of plan.same) {
        state.noteNames(docPath, names);
        state.noteBase(docPath, sha256, mode);
      }
      await deleteInCloud(sync, deleted, report);
      await work.run();
      if (only === undefined) state.noteSynced();
    }
    return report;
  } finally {
    sync.progress.end();
    await state.save();
  }
}

function secretFinding(path: string, isThere: boolean): Finding {
  const before = 'was sent before; that version stays in the Cloud until it is deleted there';
  return { path, reason: isThere ? before : 'is not sent' };
}

async function listRemote(sync: FolderSync): Promise<Map<string, CloudFile>> {
  const remote = new Map<string, CloudFile>();
  for await (const file of cloudFilesOf(sync, sync.signal)) remote.set(file.docPath, file);
  return remote;
}

function basesIn(remote: ReadonlyMap<string, CloudFile>): Bases {
  return {
    baseOf: (docPath) => remote.get(docPath)?.sha256 ?? null,
    wasExecutable: (docPath) => remote.get(docPath)?.isExecutable ?? false,
    cloudPathOf: (docPath) => remote.get(docPath)?.path ?? `/${docPath}`,
  };
}

function isOverQuota(answer: CommittedFile | RefusedFile): answer is RefusedFile {
  return 'error' in answer && isQuotaExceeded(answer.error);
}

function changeOf(pending: Pending): FileChange {
  const { read, base, cloudPath, renamedFrom } = pending;
  const mode = modeOf(pending);
  return {
    ...{ path: cloudPath, sha256: read.sha256, baseSha256: base },
    ...(renamedFrom !== null && { renamedFrom }),
    ...(mode !== undefined && { isExecutable: mode }),
  };
}

class Push {
  private readonly reader: PushReader;

  constructor(
    private readonly sync: FolderSync,
    private readonly report: SyncReport,
    private readonly plan: PushPlan,
    bases: Bases,
  ) {
    this.reader = new PushReader(sync, report, bases);
  }

  async run(): Promise<void> {
    this.begin('Sending');
    const batches = this.reader.batches(this.plan.candidates);
    await inParallel(batches, BATCHES_AT_ONCE, (batch) => this.send(batch)).finally(() =>
      this.reader.releaseAll(),
    );
  }

  async preview(gone: ReadonlyMap<string, string>, remote: ReadonlyMap<string, CloudFile>): Promise<void> {
    this.begin('Comparing');
    const preview = new PushPreview(this.sync, this.report, remote);
    for (const [docPath, base] of gone) preview.deletion(docPath, base);
    for await (const batch of this.reader.batches(this.plan.candidates)) {
      for (const pending of batch) {
        preview.file(pending);
        this.sync.progress.advance(1, pending.file.sizeBytes);
      }
    }
  }

  private begin(what: string): void {
    const bytes = this.plan.candidates.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    this.sync.progress.begin(what, this.plan.candidates.length, bytes);
  }

  private async send(batch: readonly Pending[]): Promise<void> {
    try {
      let left = batch;
      for (let tries = 1; left.length > 0; tries += 1) {
        left = await this.commit(await this.upload(left), tries < TRIES);
      }
    } finally {
      for (const { file } of batch) this.reader.release(file);
    }
  }

  /** Commits uploaded files; returns those to try again. */
  private async commit(batch: readonly Pending[], mayRetry: boolean): Promise<Pending[]> {
    const { files, state, signal } = this.sync;
    const again: Pending[] = [];
    let quotaMessage: string | undefined;
    for (const { file, read } of batch) state.noteSent(file.docPath, read.sha256);
    await state.save();
    for (let from = 0; from < batch.length; from += MAX_BATCH_FILES) {
      const part = batch.slice(from, from + MAX_BATCH_FILES);
      const changes = part.map(changeOf);
      const answers = await files.commit(changes, signal);
      answers.forEach((answer, at) => {
        if (isOverQuota(answer)) return void (quotaMessage ??= answer.error.message);
        const retry = this.settle(part[at]!, answer, mayRetry);
        if (retry) again.push(retry);
      });
      if (quotaMessage !== undefined) break;
    }
    await state.save();
    if (quotaMessage !== undefined) throw new PatchbayError('TOO_LARGE', quotaMessage);
    return again;
  }

  /** Uploads missing blobs; returns the files that can be committed. */
  private async upload(batch: readonly Pending[]): Promise<readonly Pending[]> {
    const blobs = batch.map(({ read }) => read);
    const { wireBytes, tooLarge } = await uploadMissing(this.sync.files, blobs, this.sync.signal);
    this.report.wireBytes += wireBytes;
    if (tooLarge.size === 0) return batch;
    return batch.filter(({ file, read }) => {
      if (!tooLarge.has(read.sha256)) return true;
      const reason = `is too large for the server: ${sizeText(read.bytes.length)}`;
      this.reader.skip(file, reason);
      this.sync.progress.advance(1, file.sizeBytes);
      return false;
    });
  }

  /** Records the result of a file; returns it if it should be tried again. */
  private settle(pending: Pending, answer: CommittedFile | RefusedFile, mayRetry: boolean): Pending | null {
    const { file, read, base, renamedFrom } = pending;
    const { report, sync } = this;
    if ('error' in answer) {
      const { code, message, currentSha256 } = answer.error;
      if (code === 'STALE' && mayRetry) {
        const retry = this.rebase(pending, currentSha256);
        if (retry !== undefined) return retry;
      }
      if (code === 'NOT_FOUND' && mayRetry) return pending;
      // A file that was only renamed or made executable is not in conflict with new content.
      if (code === 'STALE' && read.sha256 !== base) {
        const { path, docPath } = file;
        const reason = conflictReason(base, currentSha256);
        report.conflicts.push({ path, docPath, remote: currentSha256, reason });
      } else if (code !== 'STALE') report.faults.push({ path: file.path, reason: message });
    } else {
      const names = { localPath: file.path, cloudPath: answer.path };
      const isRefused = renamedFrom !== null && !isRenamed(pending, answer.path);
      if (renamedFrom !== null && !isRefused) sync.state.noteNames(file.docPath, names);
      sync.state.noteSame(file.docPath, read.sha256, names, isExecutable(read.stamp));
      if (isRefused)
        report.conflicts.push(renameConflict(file, read.sha256, belowRoot(answer.path.slice(1))));
      if (answer.unchanged && !answer.renamed) report.unchanged += isRefused ? 0 : 1;
      else {
        report.moved.files += 1;
        report.moved.bytes += answer.unchanged ? 0 : read.bytes.length;
      }
    }
    sync.progress.advance(1, file.sizeBytes);
    return null;
  }

  /**
   * Returns the file's current content, based on the Cloud's version, if this folder has sent that version (in another
   * process or before a crash) or `force` is set. Undefined if someone else has sent it.
   */
  private rebase(pending: Pending, current: string | null): Pending | null | undefined {
    const { file } = pending;
    const { state, force } = this.sync;
    state.refresh();
    if (!force && (current === null || !state.isOwn(file.docPath, current))) return undefined;
    const read = this.reader.tryRead(file.path);
    if (read === null || !read.isText) return null;
    return { ...pending, read, base: current };
  }
}
