import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { PatchbayError } from '@patchbay/client';
import {
  type CloudFile,
  type CommittedFile,
  type FileChange,
  MAX_BATCH_FILES,
  type RefusedFile,
} from '@patchbay/protocol';
import { inParallel } from '../disk/in-parallel.js';
import { cloudFilesOf } from './cloud-list.js';
import { compare } from './compare.js';
import { type FileStamp, isExecutable, stampOf } from './file-stamp.js';
import { belowRoot, type FolderSync, rootOf } from './folder-sync.js';
import { FolderReplaced, identityOf, isSameFolder } from './folder-guard.js';
import { deleteGone, findGone } from './push-deletions.js';
import { isForWantOfRoom, modeOf, type Pending } from './push-pending.js';
import { leftOutFiles, sentBefore } from './left-out-files.js';
import {
  conflictReason,
  IS_BINARY,
  modeReason,
  planForcedPush,
  planPush,
  type PushPlan,
} from './push-plan.js';
import { type ReadFile, readWhole } from './read-file.js';
import { type ScannedFile, scanFolder } from './scan-folder.js';
import { emptyReport, type Finding, sizeText, type SyncReport } from './sync-report.js';
import { tellUnsent, unsent } from './unsent-files.js';
import { uploadMissing } from './upload-blobs.js';

/** Files and bytes that are read, sent and committed together. */
const BATCH_FILES = 500;
const BATCH_BYTES = 4 * 1024 * 1024;
const BATCHES_AT_ONCE = 3;
/** How often a file is tried again whose bytes or base were gone when it was its turn. */
const TRIES = 4;
const FILES_A_TURN = 64;

/**
 * Makes the folder's text files the Cloud's. Of each file the server is told on which head it is based, so nothing that
 * is newer there is overwritten, and nothing has to be listed first. What is committed is remembered at once: a push
 * that is cut off goes on where it was. What there is no room for ends it. With `force` the Cloud's files are listed, and made what they are here.
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
    report.faults.push(...scan.faults);
    const isThere = (docPath: string) => (remote?.get(docPath)?.sha256 ?? state.baseOf(docPath)) !== null;
    if (sync.tellsLeftOut) {
      report.leftOut = await leftOutFiles(rootOf(sync), scan.leftOut, sync.signal);
      report.kept.push(...sentBefore(rootOf(sync), report.leftOut, state));
    }
    report.secrets.push(...scan.secrets.map(({ path, docPath }) => secretFinding(path, isThere(docPath))));
    const baseOf = (docPath: string) =>
      force ? (remote!.get(docPath)?.sha256 ?? null) : state.baseOf(docPath);
    const wasExecutable = (docPath: string) =>
      force ? (remote!.get(docPath)?.isExecutable ?? false) : state.wasExecutable(docPath);
    const binary = plan.binary
      .filter(({ docPath }) => baseOf(docPath) !== null)
      .map(({ docPath }) => docPath);
    report.skipped.push(...plan.binary.map(({ path, reason }) => ({ path, reason })));
    tellUnsent(sync, report, [...plan.unseen, ...binary], baseOf);
    const gone = await findGone(sync, plan.unseen, baseOf);
    if (!isSameFolder(identityOf(rootOf(sync)), identity)) throw new FolderReplaced(rootOf(sync).directory);
    const work = new Push(sync, report, plan, baseOf, wasExecutable);
    if (sync.dryRun) await work.preview(gone, remote!);
    else {
      for (const one of plan.same) state.noteBase(one.docPath, one.sha256, one.isExecutable);
      await deleteGone(sync, gone, report);
      await work.run().finally(() => work.release());
      if (only === undefined) state.noteSynced();
    }
    return report;
  } finally {
    sync.progress.end();
    await state.save();
  }
}

function secretFinding(path: string, isThere: boolean): Finding {
  const before = 'was sent before, and stays in the Cloud as it was then until it is deleted there';
  return { path, reason: isThere ? before : 'is not sent' };
}

/** The folder's files in the Cloud, by docPath. */
async function listRemote(sync: FolderSync): Promise<Map<string, CloudFile>> {
  const remote = new Map<string, CloudFile>();
  for await (const file of cloudFilesOf(sync, sync.signal)) remote.set(file.docPath, file);
  return remote;
}

class Push {
  /** docPaths that nobody else is to touch until they are settled. */
  private readonly taken = new Set<string>();

  constructor(
    private readonly sync: FolderSync,
    private readonly report: SyncReport,
    private readonly plan: PushPlan,
    /** What the Cloud should have of a docPath, as far as that is known. */
    private readonly baseOf: (docPath: string) => string | null,
    /** And whether that is executable. */
    private readonly wasExecutable: (docPath: string) => boolean,
  ) {}

  async run(): Promise<void> {
    this.begin('Sending');
    await inParallel(this.batches(), BATCHES_AT_ONCE, (batch) => this.send(batch));
  }

  private begin(what: string): void {
    const bytes = this.plan.candidates.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    this.sync.progress.begin(what, this.plan.candidates.length, bytes);
  }

  /** Says what a run would do, with what the Cloud has. */
  async preview(gone: ReadonlyMap<string, string>, remote: ReadonlyMap<string, CloudFile>): Promise<void> {
    this.begin('Comparing');
    const { force, delete: deletes } = this.sync;
    const plan = (path: string, reason: string) => void this.report.planned.push({ path, reason });
    const judge = (
      { path, docPath }: Pick<ScannedFile, 'path' | 'docPath'>,
      local: string | null,
      base: string | null,
      newMode?: boolean,
    ) => {
      const there = remote.get(docPath)?.sha256 ?? null;
      const verdict = compare({ local, base, remote: there });
      if (verdict === 'same' && local === base && newMode !== undefined) plan(path, modeReason(newMode));
      else if (verdict === 'same') this.report.unchanged += 1;
      else if (verdict !== 'changedHere' && !force) {
        this.report.conflicts.push({ path, docPath, remote: there, reason: conflictReason(base, there) });
      } else if (local !== null) plan(path, there === null ? 'would be added' : 'would be replaced');
      else if (deletes || force) plan(path, 'would be deleted in the Cloud');
      else this.report.kept.push({ path, reason: 'was deleted here' });
    };
    for (const [docPath, base] of gone) judge({ path: belowRoot(docPath), docPath }, null, base);
    for await (const batch of this.batches()) {
      for (const pending of batch) {
        const { file, read, base } = pending;
        judge(file, read.sha256, base, modeOf(pending));
        this.sync.progress.advance(1, file.sizeBytes);
      }
    }
  }

  private async *batches(): AsyncGenerator<Pending[]> {
    let batch: Pending[] = [];
    let bytes = 0;
    for (const [at, file] of this.plan.candidates.entries()) {
      if (at % FILES_A_TURN === 0) await setImmediate();
      this.sync.signal?.throwIfAborted();
      const pending = this.take(file);
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

  /** The file where it has to be sent, out of the hands of anybody else until that is settled. */
  private take(file: ScannedFile): Pending | null {
    if (this.sync.claims?.tryTake(file.docPath) === false) return null;
    this.taken.add(file.docPath);
    const pending = this.mayRead(file.docPath, file.stamp) ? this.read(file) : null;
    if (pending === null) this.free(file);
    return pending;
  }

  private mayRead(docPath: string, stamp: FileStamp): boolean {
    return this.sync.settling?.isStill(docPath, stamp) ?? true;
  }

  /** Whether the file is as it was read, or has been changing for so long that this does not matter. */
  private isStillAfter(path: string, docPath: string): boolean {
    const { settling } = this.sync;
    const stats = settling && lstatSync(join(rootOf(this.sync).directory, path), { throwIfNoEntry: false });
    if (settling && (stats === undefined || !this.mayRead(docPath, stampOf(stats)))) return false;
    settling?.done(docPath);
    return true;
  }

  private free({ docPath }: ScannedFile): void {
    if (this.taken.delete(docPath)) this.sync.claims?.free(docPath);
  }

  /** Frees what a failure has left unsettled. */
  release(): void {
    for (const docPath of this.taken) this.sync.claims?.free(docPath);
    this.taken.clear();
  }

  /** The file where it has to be sent. */
  private read(file: ScannedFile): Pending | null {
    const { state, maxFileBytes } = this.sync;
    const { path, docPath } = file;
    const read = this.tryRead(path, maxFileBytes);
    if (read === null || !this.isStillAfter(path, docPath)) return null;
    state.noteContent(docPath, read.stamp, read.isText ? read.sha256 : null);
    const base = this.baseOf(docPath);
    const pending = { file, read, base, wasExecutable: this.wasExecutable(docPath) };
    if (!read.isText) this.skip(file, IS_BINARY);
    else if (read.sha256 === base && modeOf(pending) === undefined) {
      state.noteBase(docPath, base, pending.wasExecutable);
      this.report.unchanged += 1;
    } else return pending;
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

  private skip({ path, docPath }: ScannedFile, reason: string): void {
    const base = this.baseOf(docPath);
    if (base === null) this.report.skipped.push({ path, reason });
    else this.report.unsent.push(unsent(docPath, base, { path, reason }));
  }

  private async send(batch: readonly Pending[]): Promise<void> {
    try {
      let left = batch;
      for (let tries = 1; left.length > 0; tries += 1) {
        left = await this.commit(await this.upload(left), tries < TRIES);
      }
    } finally {
      for (const { file } of batch) this.free(file);
    }
  }

  /** Commits what was uploaded; gives what is to be tried again. */
  private async commit(batch: readonly Pending[], mayRetry: boolean): Promise<Pending[]> {
    const { files, state, signal } = this.sync;
    const again: Pending[] = [];
    let noRoom: string | undefined;
    for (const { file, read } of batch) state.noteSent(file.docPath, read.sha256);
    await state.save();
    for (let from = 0; from < batch.length; from += MAX_BATCH_FILES) {
      const part = batch.slice(from, from + MAX_BATCH_FILES);
      const changes = part.map((pending): FileChange => {
        const { file, read, base } = pending;
        const [path, mode] = [`/${rootOf(this.sync).name}/${file.path}`, modeOf(pending)];
        return {
          ...{ path, sha256: read.sha256, baseSha256: base },
          ...(mode !== undefined && { isExecutable: mode }),
        };
      });
      const answers = await files.commit(changes, signal);
      answers.forEach((answer, at) => {
        if (isForWantOfRoom(answer)) return void (noRoom ??= answer.error.message);
        const retry = this.settle(part[at]!, answer, mayRetry);
        if (retry) again.push(retry);
      });
      if (noRoom !== undefined) break;
    }
    await state.save();
    if (noRoom !== undefined) throw new PatchbayError('TOO_LARGE', noRoom);
    return again;
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
      this.skip(file, reason);
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
      if (code === 'STALE' && mayRetry) {
        const retry = this.onTopOf(pending, currentSha256);
        if (retry !== undefined) return retry;
      }
      if (code === 'NOT_FOUND' && mayRetry) return pending;
      if (code === 'STALE') {
        const { path, docPath } = file;
        const reason = conflictReason(base, currentSha256);
        report.conflicts.push({ path, docPath, remote: currentSha256, reason });
      } else report.faults.push({ path: file.path, reason: message });
    } else {
      sync.state.noteBase(file.docPath, read.sha256, isExecutable(read.stamp));
      if (answer.unchanged) report.unchanged += 1;
      else {
        report.moved.files += 1;
        report.moved.bytes += read.bytes.length;
      }
    }
    sync.progress.advance(1, file.sizeBytes);
    return null;
  }

  /**
   * What is sent once more, where the Cloud has moved on to what this folder has put there itself, in another process or
   * before a crash, or where that does not matter: the file as it is now. Undefined where it is another's.
   */
  private onTopOf({ file, wasExecutable }: Pending, current: string | null): Pending | null | undefined {
    const { state, force } = this.sync;
    state.refresh();
    if (!force && (current === null || !state.isOwn(file.docPath, current))) return undefined;
    const read = this.tryRead(file.path, this.sync.maxFileBytes);
    if (read === null || !read.isText) return null;
    return { file, read, base: current, wasExecutable };
  }
}
