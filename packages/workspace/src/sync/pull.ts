import { sha256 } from '@patchbay/protocol/hash';
import { inParallel } from '../disk/in-parallel.js';
import { WorkspaceFault } from '../disk/workspace-fault.js';
import { isIgnoreFile } from '../visible/ignore-file.js';
import { checkIgnoreChanges, ignoreChangesOf } from './ignore-changes.js';
import { type FolderSync, rootOf } from './folder-sync.js';
import { modeReason } from './push-plan.js';
import {
  ChangedMeanwhile,
  deleteFile,
  type Placement,
  placeFiles,
  pullTempName,
  setExecutable,
} from './place-file.js';
import { isAsShown, listRemote, makePlan, removeLeftovers } from './prepare-pull.js';
import { batchesOf, byFolder, type LocatedWrite } from './pull-batches.js';
import type { PullDeletion, PullMode, PullPlan, PullRename, PullWrite } from './pull-plan.js';
import { checkRenames } from './rename-checks.js';
import { renameFile } from './rename-file.js';
import { type FolderScan, scanFolder } from './scan-folder.js';
import { emptyReport, sizeText, type SyncReport } from './sync-report.js';

const BATCHES_AT_ONCE = 3;
/** Longest time in ms between a rename and its save. */
const SAVE_EVERY_MS = 100;
const WITHOUT_ATTRIBUTES =
  'was replaced, and its extended attributes and access control list could not be kept';
const KEPT_BESIDE =
  'had text that is in no version: it is kept beside the file with the suffix .patchbay-kept';

/**
 * Writes the Cloud's files into the folder. A local file is replaced only if it has the base, which is checked again
 * right before. Progress is saved, so that an interrupted pull continues where it stopped.
 */
export async function pullFolder(sync: FolderSync): Promise<SyncReport> {
  const report = emptyReport();
  try {
    const { remote, inconsistent, folders } = await listRemote(sync, report);
    if (sync.expects && !isAsShown(sync.expects, [...remote.values()][0])) return report;
    const scan = await scanFolder(rootOf(sync), sync);
    if (!sync.dryRun) removeLeftovers(sync, scan);
    const plan = await makePlan(sync, scan, { remote, inconsistent, folders }, report);
    const isElsewhere = plan.writes.some(({ path }) => path !== sync.expects?.path);
    if (sync.expects && !sync.dryRun && isElsewhere) return report;
    report.kept.push(...plan.kept);
    report.conflicts.push(...plan.conflicts);
    const pull = new Pull(sync, report, scan, folders);
    if (sync.dryRun) pull.preview(await pull.withoutUnignoring(plan));
    else {
      await pull.run(await pull.withoutUnignoring(plan));
      if (sync.only === undefined) sync.state.noteSynced();
    }
    return report;
  } finally {
    sync.progress.end();
    await sync.state.save();
  }
}

class Pull {
  /** docPaths that were changed by this pull. */
  private readonly received = new Set<string>();
  private savedAt = -Infinity;

  constructor(
    private readonly sync: FolderSync,
    private readonly report: SyncReport,
    private readonly scan: FolderScan,
    /** Folders that contain the Cloud's files. */
    private readonly folders: ReadonlySet<string>,
  ) {}

  /** Reports what would be done. */
  preview({ writes, modes, renames, deletions, same }: PullPlan): void {
    const { planned } = this.report;
    for (const { path, to } of renames) planned.push({ path, reason: `would be renamed to ${to}` });
    for (const { path, isExecutable } of modes) planned.push({ path, reason: modeReason(isExecutable) });
    for (const { path, replaces } of writes) {
      planned.push({ path, reason: replaces === null ? 'would be added' : 'would be replaced' });
    }
    for (const { path, keep } of deletions) {
      planned.push({
        path,
        reason: keep ? 'would be kept with the suffix .patchbay-kept' : 'would be deleted here',
      });
    }
    for (const { file } of [...renames, ...modes]) this.received.add(file.docPath);
    this.countUnchanged(same);
  }

  async run({ writes, modes, renames, deletions, same, named }: PullPlan): Promise<void> {
    const { state, progress } = this.sync;
    for (const { docPath, sha256: digest, names } of same) {
      if (digest !== null && names) state.noteSame(docPath, digest, names);
      else state.noteBase(docPath, digest);
    }
    for (const { docPath, names } of named) state.noteNames(docPath, names);
    for (const mode of modes) await this.setMode(mode);
    for (const deletion of deletions) await this.delete(deletion);
    const bytes = writes.reduce((sum, { file }) => sum + file.sizeBytes, 0);
    progress.begin('Receiving', writes.length, bytes);
    await inParallel(batchesOf(this.placesOf(writes)), BATCHES_AT_ONCE, (batch) => this.receive(batch));
    const allowed = writes.some(({ path }) => isIgnoreFile(path)) ? await this.allowed(renames) : renames;
    for (const rename of allowed) await this.rename(rename);
    this.countUnchanged(same);
  }

  /** Removes changes of ignore files after which other files would be sent. */
  async withoutUnignoring(plan: PullPlan): Promise<PullPlan> {
    const changes = ignoreChangesOf([...plan.writes, ...plan.deletions]);
    if (changes.length === 0) return plan;
    const contents = await this.fetch(plan.writes.filter((write) => changes.includes(write)));
    const { kept, keptBack } = await checkIgnoreChanges(this.sync, changes, (change) => {
      if (!('file' in change)) return '';
      const bytes = contents.get(change.file.sha256);
      return bytes === undefined ? null : Buffer.from(bytes).toString('utf8');
    });
    this.report.kept.push(...kept);
    return {
      ...plan,
      writes: plan.writes.filter((write) => !keptBack.has(write)),
      deletions: plan.deletions.filter((deletion) => !keptBack.has(deletion)),
    };
  }

  /** By the ignore rules that were just written. */
  private async allowed(renames: readonly PullRename[]): Promise<PullRename[]> {
    const { allowed, kept } = await checkRenames(this.sync, renames, this.scan.folders);
    this.report.kept.push(...kept);
    return allowed;
  }

  private countUnchanged(same: PullPlan['same']): void {
    const unchanged = same.filter(({ docPath, sha256 }) => sha256 !== null && !this.received.has(docPath));
    this.report.unchanged = unchanged.length;
  }

  private noteReceived(docPath: string): void {
    if (!this.received.has(docPath)) this.report.moved.files += 1;
    this.received.add(docPath);
  }

  /** Runs before the download, so that files with invalid names are not fetched. */
  private *placesOf(writes: readonly PullWrite[]): Generator<LocatedWrite> {
    const { roots, maxFileBytes } = this.sync;
    for (const write of writes) {
      const { path, file } = write;
      try {
        if (file.sizeBytes > maxFileBytes) {
          this.report.skipped.push({ path, reason: `is too large: ${sizeText(file.sizeBytes)}` });
        } else {
          const { segments } = roots.locateIn(rootOf(this.sync), path);
          yield { write, folder: segments.slice(0, -1), name: segments.at(-1)! };
          continue;
        }
      } catch (error) {
        this.settle(write, error);
      }
      this.sync.progress.advance(1, file.sizeBytes);
    }
  }

  private async receive(batch: readonly LocatedWrite[]): Promise<void> {
    const { state, signal } = this.sync;
    const contents = await this.fetch(batch.map(({ write }) => write));
    for (const files of byFolder(batch)) {
      signal?.throwIfAborted();
      await this.place(files, contents);
      await state.save();
    }
  }

  private async fetch(writes: readonly PullWrite[]): Promise<Map<string, Uint8Array>> {
    const { files, signal } = this.sync;
    const sha256s = [...new Set(writes.map(({ file }) => file.sha256))];
    const contents = new Map<string, Uint8Array>();
    for await (const bytes of files.readBlobs(sha256s, signal)) {
      this.report.wireBytes += bytes.length;
      contents.set(sha256(bytes), bytes);
    }
    return contents;
  }

  private async place(
    files: readonly LocatedWrite[],
    contents: ReadonlyMap<string, Uint8Array>,
  ): Promise<void> {
    const { state, roots, progress } = this.sync;
    const placements = files.flatMap(({ write, name }): (Placement & { write: PullWrite })[] => {
      const bytes = contents.get(write.file.sha256);
      const { replaces, keep, isExecutable } = write;
      return bytes
        ? [{ write, name, bytes, replaces, keep, isExecutable, tempName: pullTempName(state.key) }]
        : [];
    });
    const { directory } = rootOf({ roots });
    const faults = await placeFiles(directory, files[0]!.folder, placements);
    const placed = new Set(
      placements.filter((placement) => !faults.has(placement)).map(({ write }) => write),
    );
    for (const [{ write }, error] of faults) this.settle(write, error);
    for (const { write, hasLostAttributes } of placements)
      if (hasLostAttributes) this.report.kept.push({ path: write.path, reason: WITHOUT_ATTRIBUTES });
    for (const { write } of files) {
      const { file, path } = write;
      progress.advance(1, file.sizeBytes);
      if (placed.has(write)) {
        const names = { localPath: path, cloudPath: file.path };
        if (write.replaces === null) state.noteNames(file.docPath, names);
        state.noteSame(file.docPath, file.sha256, names, write.isExecutable ?? undefined);
        this.noteReceived(file.docPath);
        this.report.moved.bytes += file.sizeBytes;
        if (write.keep) this.report.kept.push({ path, reason: KEPT_BESIDE });
      } else if (!contents.has(file.sha256)) {
        this.report.faults.push({ path, reason: 'was damaged during the download; pull again' });
      }
    }
  }

  private async setMode(mode: PullMode): Promise<void> {
    const { file, path, isExecutable } = mode;
    try {
      const { root, segments } = this.sync.roots.locateIn(rootOf(this.sync), path);
      await setExecutable(root.directory, segments, { sha256: file.sha256, isExecutable });
      this.sync.state.noteBase(file.docPath, file.sha256, isExecutable);
      this.noteReceived(file.docPath);
    } catch (error) {
      this.settle(mode, error);
    }
  }

  private async rename({ file, path, to }: PullRename): Promise<void> {
    const { roots, state } = this.sync;
    try {
      const { root, segments } = roots.locateIn(rootOf(this.sync), path);
      const target = roots.locateIn(rootOf(this.sync), to);
      const mayMove = (folder: string) => !this.folders.has(folder);
      await renameFile(root.directory, segments, target.segments, mayMove);
      state.noteNames(file.docPath, { localPath: to, cloudPath: file.path });
      this.noteReceived(file.docPath);
      await this.saveSoon();
    } catch (error) {
      this.settle({ file, path }, error);
    }
  }

  /** Saving reads the whole state, so it is not done for each rename. */
  private async saveSoon(): Promise<void> {
    if (performance.now() - this.savedAt < SAVE_EVERY_MS) return;
    await this.sync.state.save();
    this.savedAt = performance.now();
  }

  private async delete(deletion: PullDeletion): Promise<void> {
    const { docPath, path, ...file } = deletion;
    try {
      const { root, segments } = this.sync.roots.locateIn(rootOf(this.sync), path);
      await deleteFile(root.directory, segments, file);
      if (file.keep) this.report.kept.push({ path, reason: KEPT_BESIDE });
      this.sync.state.noteBase(docPath, null);
      this.report.deleted += 1;
    } catch (error) {
      this.settle(deletion, error);
    }
  }

  /** An error of one file must not stop the others. */
  private settle(one: Pick<PullWrite, 'file' | 'path'> | PullDeletion, error: unknown): void {
    const { path } = one;
    if (error instanceof ChangedMeanwhile) {
      const { docPath, sha256: remote } = 'file' in one ? one.file : { ...one, sha256: null };
      this.report.conflicts.push({ path, docPath, remote, reason: 'was changed here during the pull' });
    } else if (!(error instanceof WorkspaceFault)) throw error;
    else if (error.code === 'InvalidPath') {
      this.report.skipped.push({ path, reason: `cannot be written here: ${error.message}` });
    } else this.report.faults.push({ path, reason: error.message });
  }
}
