import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { CloudSpelling, isSpelledAlike, isSameCloudPath, renamedInCloud } from './cloud-spelling.js';
import { type FileStamp, isExecutable, KNOWS_EXECUTABLE, stampOf } from './file-stamp.js';
import { type FolderSync, rootOf } from './folder-sync.js';
import { IS_BINARY } from './push-plan.js';
import { type ReadFile, readWhole } from './read-file.js';
import type { ScannedFile } from './scan-folder.js';
import type { SyncReport } from './sync-report.js';
import { unsent } from './unsent-files.js';

/** Most files and bytes per batch. */
const BATCH_FILES = 500;
const BATCH_BYTES = 4 * 1024 * 1024;
const FILES_PER_TURN = 64;

/** A changed file and its base. */
export interface Pending {
  file: ScannedFile;
  read: ReadFile;
  base: string | null;
  wasExecutable: boolean;
  /** Its new Cloud path, and its current one if the spelling has changed locally. */
  cloudPath: string;
  renamedFrom: string | null;
}

/** The Cloud's versions, as far as known. */
export interface Bases {
  baseOf(docPath: string): string | null;
  wasExecutable(docPath: string): boolean;
  cloudPathOf(docPath: string): string;
}

/** The mode to send; undefined if it did not change or this system has none. */
export function modeOf({
  read,
  base,
  wasExecutable,
}: Pick<Pending, 'read' | 'base' | 'wasExecutable'>): boolean | undefined {
  const mode = isExecutable(read.stamp);
  return KNOWS_EXECUTABLE && (base === null || mode !== wasExecutable) ? mode : undefined;
}

/** Whether the Cloud has the file under its local name. */
export function isRenamed({ file, cloudPath }: Pending, currentPath: string): boolean {
  return isSpelledAlike(file.path, currentPath) || isSameCloudPath(cloudPath.normalize('NFC'), currentPath);
}

/** Reads the files that may have to be sent. Changed files stay locked until `free`. */
export class PushReader {
  private readonly claimed = new Set<string>();
  private readonly spelling: CloudSpelling;

  constructor(
    private readonly sync: FolderSync,
    private readonly report: SyncReport,
    private readonly bases: Bases,
  ) {
    this.spelling = new CloudSpelling(rootOf(sync).name, sync.state);
  }

  async *batches(candidates: readonly ScannedFile[]): AsyncGenerator<Pending[]> {
    let batch: Pending[] = [];
    let bytes = 0;
    for (const [at, file] of candidates.entries()) {
      if (at % FILES_PER_TURN === 0) await setImmediate();
      this.sync.signal?.throwIfAborted();
      const pending = this.claim(file);
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

  release({ docPath }: ScannedFile): void {
    if (this.claimed.delete(docPath)) this.sync.claims?.release(docPath);
  }

  /** Releases the locks after a failure. */
  releaseAll(): void {
    for (const docPath of this.claimed) this.sync.claims?.release(docPath);
    this.claimed.clear();
  }

  /** Reads the file; null if it cannot be read, with the reason in the report. */
  tryRead(path: string): ReadFile | null {
    try {
      const read = readWhole(join(rootOf(this.sync).directory, path), this.sync.maxFileBytes);
      if (read === null) this.report.skipped.push({ path, reason: 'was replaced while it was to be read' });
      return read;
    } catch (error) {
      const gone = (error as NodeJS.ErrnoException).code === 'ENOENT';
      if (!gone) this.report.faults.push({ path, reason: 'cannot be read' });
      return null;
    }
  }

  skip({ path, docPath }: ScannedFile, reason: string): void {
    const base = this.bases.baseOf(docPath);
    if (base === null) this.report.skipped.push({ path, reason });
    else this.report.unsent.push(unsent(docPath, base, { path, reason }));
  }

  /** Locks and reads the file; null if it need not be sent. */
  private claim(file: ScannedFile): Pending | null {
    if (this.sync.claims?.tryClaim(file.docPath) === false) return null;
    this.claimed.add(file.docPath);
    const pending = this.read(file);
    if (pending === null) this.release(file);
    return pending;
  }

  private isStable(docPath: string, stamp: FileStamp): boolean {
    return this.sync.settling?.isStable(docPath, stamp) ?? true;
  }

  /** Whether the file did not change during the read, or has been changing for too long to wait. */
  private isStableAfterRead(path: string, docPath: string): boolean {
    const { settling } = this.sync;
    const stats = settling && lstatSync(join(rootOf(this.sync).directory, path), { throwIfNoEntry: false });
    return !settling || (stats !== undefined && this.isStable(docPath, stampOf(stats)));
  }

  private read(file: ScannedFile): Pending | null {
    const { state } = this.sync;
    const { path, docPath } = file;
    const isStill = this.isStable(docPath, file.stamp);
    const read = this.tryRead(path);
    if (read === null) return null;
    const pending = this.pendingOf(file, read);
    const { base, wasExecutable, renamedFrom } = pending;
    const isChanged = read.sha256 !== base || modeOf(pending) !== undefined || renamedFrom !== null;
    // A call has just uploaded this content, so there is no need to wait.
    if (isChanged && !(isStill && this.isStableAfterRead(path, docPath))) return null;
    this.sync.settling?.done(docPath);
    state.noteContent(docPath, read.stamp, read.isText ? read.sha256 : null);
    if (!read.isText) this.skip(file, IS_BINARY);
    else if (isChanged) return pending;
    else {
      const names = { localPath: path, cloudPath: this.bases.cloudPathOf(docPath) };
      if (this.sync.force) state.noteNames(docPath, names);
      state.noteBase(docPath, base, wasExecutable);
      this.report.unchanged += 1;
    }
    return null;
  }

  private pendingOf(file: ScannedFile, read: ReadFile): Pending {
    const { path, docPath } = file;
    const { state } = this.sync;
    const [base, wasExecutable] = [this.bases.baseOf(docPath), this.bases.wasExecutable(docPath)];
    const known = { file, read, base, wasExecutable };
    if (base === null) {
      const cloudPath = this.sync.force ? `/${rootOf(this.sync).name}/${path}` : this.spelling.pathOf(path);
      return { ...known, cloudPath, renamedFrom: null };
    }
    const currentPath = this.bases.cloudPathOf(docPath);
    if (this.sync.force) {
      const cloudPath = `/${currentPath.slice(1, currentPath.indexOf('/', 1))}/${path}`;
      return { ...known, cloudPath, renamedFrom: isSpelledAlike(path, currentPath) ? null : currentPath };
    }
    const renamedFrom = state.isSpelledLocally(docPath, path) ? null : currentPath;
    return { ...known, cloudPath: renamedInCloud(path, state.namesOf(docPath)), renamedFrom };
  }
}
