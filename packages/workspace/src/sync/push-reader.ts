import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { CloudSpelling, isNamed, isSameName, renamedThere } from './cloud-spelling.js';
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
const FILES_A_TURN = 64;

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
export function isRenamed({ file, cloudPath }: Pending, there: string): boolean {
  return isNamed(file.path, there) || isSameName(cloudPath.normalize('NFC'), there);
}

/** Reads the files that may have to be sent. Changed files stay locked until `free`. */
export class PushReader {
  private readonly taken = new Set<string>();
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

  free({ docPath }: ScannedFile): void {
    if (this.taken.delete(docPath)) this.sync.claims?.free(docPath);
  }

  /** Releases the locks after a failure. */
  release(): void {
    for (const docPath of this.taken) this.sync.claims?.free(docPath);
    this.taken.clear();
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
  private take(file: ScannedFile): Pending | null {
    if (this.sync.claims?.tryTake(file.docPath) === false) return null;
    this.taken.add(file.docPath);
    const pending = this.read(file);
    if (pending === null) this.free(file);
    return pending;
  }

  private isStill(docPath: string, stamp: FileStamp): boolean {
    return this.sync.settling?.isStill(docPath, stamp) ?? true;
  }

  /** Whether the file did not change during the read, or has been changing for too long to wait. */
  private isStillAfter(path: string, docPath: string): boolean {
    const { settling } = this.sync;
    const stats = settling && lstatSync(join(rootOf(this.sync).directory, path), { throwIfNoEntry: false });
    return !settling || (stats !== undefined && this.isStill(docPath, stampOf(stats)));
  }

  private read(file: ScannedFile): Pending | null {
    const { state } = this.sync;
    const { path, docPath } = file;
    const isStill = this.isStill(docPath, file.stamp);
    const read = this.tryRead(path);
    if (read === null) return null;
    const pending = this.pendingOf(file, read);
    const { base, wasExecutable, renamedFrom } = pending;
    const isChanged = read.sha256 !== base || modeOf(pending) !== undefined || renamedFrom !== null;
    // A call has just uploaded this content, so there is no need to wait.
    if (isChanged && !(isStill && this.isStillAfter(path, docPath))) return null;
    this.sync.settling?.done(docPath);
    state.noteContent(docPath, read.stamp, read.isText ? read.sha256 : null);
    if (!read.isText) this.skip(file, IS_BINARY);
    else if (isChanged) return pending;
    else {
      const names = { here: path, there: this.bases.cloudPathOf(docPath) };
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
    const there = this.bases.cloudPathOf(docPath);
    if (this.sync.force) {
      const cloudPath = `/${there.slice(1, there.indexOf('/', 1))}/${path}`;
      return { ...known, cloudPath, renamedFrom: isNamed(path, there) ? null : there };
    }
    const renamedFrom = state.isSpelt(docPath, path) ? null : there;
    return { ...known, cloudPath: renamedThere(path, state.namesOf(docPath)), renamedFrom };
  }
}
