import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { type CommittedFile, foldCase, MAX_BATCH_FILES, type RefusedFile } from '@patchbay/protocol';
import { inParallel } from '../disk/in-parallel.js';
import { compare } from './compare.js';
import { belowRoot, type FolderSync, rootOf } from './folder-sync.js';
import { deleteGone, findGone } from './push-deletions.js';
import { conflictReason, IS_BINARY, planPush, type PushPlan } from './push-plan.js';
import { type ReadFile, readWhole } from './read-file.js';
import { type ScannedFile, scanFolder } from './scan-folder.js';
import { emptyReport, sizeText, type SyncReport } from './sync-report.js';
import { uploadMissing } from './upload-blobs.js';

/** Files and bytes that are read, sent and committed together. */
const BATCH_FILES = 500;
const BATCH_BYTES = 4 * 1024 * 1024;
const BATCHES_AT_ONCE = 3;
/** How often a file is tried again whose bytes or base were gone when it was its turn. */
const TRIES = 4;
const FILES_A_TURN = 64;

/** A file that has changed, with what it is based on. */
interface Pending {
  file: ScannedFile;
  read: ReadFile;
  base: string | null;
}

/**
 * Makes the folder's text files the Cloud's. Of each file the server is told on which head it is based, so nothing that
 * is newer there is overwritten, and nothing has to be listed first. What is committed is remembered at once: a push
 * that is cut off goes on where it was.
 */
export async function pushFolder(sync: FolderSync): Promise<SyncReport> {
  const report = emptyReport();
  const { state } = sync;
  try {
    const scan = await scanFolder(rootOf(sync), sync);
    const plan = planPush(scan.files, state);
    report.unchanged = plan.unchanged;
    report.skipped.push(...scan.skipped, ...plan.binary);
    report.faults.push(...scan.faults);
    const gone = await findGone(sync, plan.unseen);
    const work = new Push(sync, report, plan);
    if (sync.dryRun) await work.preview(gone);
    else {
      await deleteGone(sync, gone, report);
      await work.run();
    }
    return report;
  } finally {
    sync.progress.end();
    await state.save();
  }
}

class Push {
  constructor(
    private readonly sync: FolderSync,
    private readonly report: SyncReport,
    private readonly plan: PushPlan,
  ) {}

  async run(): Promise<void> {
    const bytes = this.plan.candidates.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    this.sync.progress.begin('Sending', this.plan.candidates.length, bytes);
    await inParallel(this.batches(), BATCHES_AT_ONCE, (batch) => this.send(batch));
  }

  /** Says what a run would do, for which the Cloud's files are listed. */
  async preview(gone: ReadonlyMap<string, string>): Promise<void> {
    const { files, signal, force, delete: deletes } = this.sync;
    const remote = new Map<string, string>();
    const prefix = `${foldCase(rootOf(this.sync).name)}/`;
    for await (const { docPath, sha256 } of files.list({ prefix, signal })) remote.set(docPath, sha256);
    const plan = (path: string, reason: string) => void this.report.planned.push({ path, reason });
    const judge = (path: string, docPath: string, local: string | null, base: string | null) => {
      const there = remote.get(docPath) ?? null;
      const verdict = compare({ local, base, remote: there });
      if (verdict === 'same') this.report.unchanged += 1;
      else if (verdict !== 'changedHere' && !force) {
        this.report.conflicts.push({ path, reason: conflictReason(base, there) });
      } else if (local !== null) plan(path, there === null ? 'would be added' : 'would be replaced');
      else if (deletes) plan(path, 'would be deleted in the Cloud');
      else this.report.kept.push({ path, reason: 'was deleted here' });
    };
    for (const [docPath, base] of gone) judge(belowRoot(docPath), docPath, null, base);
    for await (const batch of this.batches()) {
      for (const { file, read, base } of batch) judge(file.path, file.docPath, read.sha256, base);
    }
  }

  private async *batches(): AsyncGenerator<Pending[]> {
    let batch: Pending[] = [];
    let bytes = 0;
    for (const [at, file] of this.plan.candidates.entries()) {
      if (at % FILES_A_TURN === 0) await setImmediate();
      this.sync.signal?.throwIfAborted();
      const pending = this.read(file);
      if (pending === null) {
        this.sync.progress.advance(1, file.sizeBytes);
        continue;
      }
      batch.push(pending);
      bytes += pending.read.bytes.length;
      if (batch.length < BATCH_FILES && bytes < BATCH_BYTES) continue;
      yield batch;
      [batch, bytes] = [[], 0];
    }
    if (batch.length > 0) yield batch;
  }

  /** The file where it has to be sent. */
  private read(file: ScannedFile): Pending | null {
    const { state, maxFileBytes } = this.sync;
    const { path, docPath } = file;
    const read = this.tryRead(path, maxFileBytes);
    if (read === null) return null;
    state.noteContent(docPath, read.stamp, read.isText ? read.sha256 : null);
    const base = state.baseOf(docPath);
    if (!read.isText) this.report.skipped.push({ path, reason: IS_BINARY });
    else if (read.sha256 === base) this.report.unchanged += 1;
    else return { file, read, base };
    return null;
  }

  private tryRead(path: string, maxFileBytes: number): ReadFile | null {
    try {
      const read = readWhole(join(rootOf(this.sync).directory, path), maxFileBytes);
      if (read === null) this.report.skipped.push({ path, reason: 'was replaced while it was to be read' });
      return read;
    } catch (error) {
      const gone = (error as NodeJS.ErrnoException).code === 'ENOENT';
      if (!gone) this.report.faults.push({ path, reason: 'cannot be read' });
      return null;
    }
  }

  private async send(batch: readonly Pending[]): Promise<void> {
    const { files, state, signal } = this.sync;
    let left = batch;
    for (let tries = 1; left.length > 0; tries += 1) {
      left = await this.upload(left);
      const again: Pending[] = [];
      for (let from = 0; from < left.length; from += MAX_BATCH_FILES) {
        const part = left.slice(from, from + MAX_BATCH_FILES);
        const changes = part.map(({ file, read, base }) => ({
          ...{ path: `/${rootOf(this.sync).name}/${file.path}`, sha256: read.sha256, baseSha256: base },
        }));
        const answers = await files.commit(changes, signal);
        answers.forEach((answer, at) => {
          const retry = this.settle(part[at]!, answer, tries < TRIES);
          if (retry) again.push(retry);
        });
      }
      await state.save();
      left = again;
    }
  }

  /** Sends what the workspace lacks; gives those that can be committed. */
  private async upload(batch: readonly Pending[]): Promise<readonly Pending[]> {
    const blobs = batch.map(({ read }) => read);
    const { wireBytes, tooLarge } = await uploadMissing(this.sync.files, blobs, this.sync.signal);
    this.report.wireBytes += wireBytes;
    if (tooLarge.size === 0) return batch;
    return batch.filter(({ file, read }) => {
      if (!tooLarge.has(read.sha256)) return true;
      const reason = `is too large for the server: ${sizeText(read.bytes.length)}`;
      this.report.skipped.push({ path: file.path, reason });
      this.sync.progress.advance(1, file.sizeBytes);
      return false;
    });
  }

  /** Notes what became of a file; gives what is to be tried again. */
  private settle(pending: Pending, answer: CommittedFile | RefusedFile, mayRetry: boolean): Pending | null {
    const { file, read, base } = pending;
    const { report, sync } = this;
    if ('error' in answer) {
      const { code, message, currentSha256 } = answer.error;
      if (code === 'STALE' && sync.force && mayRetry) return { ...pending, base: currentSha256 };
      if (code === 'NOT_FOUND' && mayRetry) return pending;
      if (code === 'STALE') {
        report.conflicts.push({ path: file.path, reason: conflictReason(base, currentSha256) });
      } else report.faults.push({ path: file.path, reason: message });
    } else {
      sync.state.noteBase(file.docPath, read.sha256);
      if (answer.unchanged) report.unchanged += 1;
      else {
        report.moved.files += 1;
        report.moved.bytes += read.bytes.length;
      }
    }
    sync.progress.advance(1, file.sizeBytes);
    return null;
  }
}
