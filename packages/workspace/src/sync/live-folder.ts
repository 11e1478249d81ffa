import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type Ack, type ChangedFile, foldCase, type FilePut, type FilePutAnswer } from '@patchbay/protocol';
import type { FolderLedger } from '../disk/folder-ledger.js';
import { ignoreNote } from '../visible/ignore-note.js';
import type { FileProposal } from '../approval/approver.js';
import { CloudComparisons } from './cloud-comparisons.js';
import { cloudProposal } from './cloud-proposal.js';
import { CloudSpelling } from './cloud-spelling.js';
import { CloudView } from './cloud-view.js';
import { ConflictKeeper } from './conflict-keeper.js';
import { type DifferenceEvents, DifferenceReport } from './difference-report.js';
import type { Difference } from './differences.js';
import { DiskFinder } from './disk-finder.js';
import { stampOf } from './file-stamp.js';
import { belowRoot, type FolderSync, rootOf } from './folder-sync.js';
import { FolderGuard } from './folder-guard.js';
import { FolderWatch } from './folder-watch.js';
import { PathClaims } from './path-claims.js';
import { silent } from './progress.js';
import { pullFolder } from './pull.js';
import { pushFolder } from './push.js';
import { Rounds } from './rounds.js';
import type { FolderScan } from './scan-folder.js';
import { Settling } from './settling.js';
import type { Conflict, SyncReport } from './sync-report.js';

/** Longest time in ms that a call waits for the upload of its files. */
const UPLOAD_WAIT_MS = 10_000;
/** Time in ms until the next scan without a hint, by whether hints are reliable, or after a failed scan. */
const RESCAN_MS = { trusted: 60_000, untrusted: 1_500, failed: 3_000 };

/** What a folder is synced with, and its callbacks. */
export interface LiveFolderOptions
  extends
    DifferenceEvents,
    Pick<FolderSync, 'files' | 'roots' | 'state' | 'maxFileBytes' | 'exclude' | 'secrets'> {
  /** Sends a file over the relay. Conflicting content is kept as a version beside the head. */
  putFile: (file: FilePut) => Promise<Ack<FilePutAnswer>>;
  /** Called with sent files and failures, and after each scan with the secrets that are not sent. */
  onReport?: (report: SyncReport) => void;
  /** Called when a whole round fails; the next round tries again. */
  onFault?: (error: unknown) => void;
  /** Monotonic time in ms, by which files that are being written are delayed. */
  now?: () => number;
}

/**
 * Syncs a folder while its client is connected. Local changes are sent, based on the last common version. Cloud
 * changes are reported, and written to the disk only after approval. In a folder that was never pushed or pulled, only
 * files that calls have written are synced.
 */
export class LiveFolder implements FolderLedger {
  private readonly claims = new PathClaims();
  private readonly report: DifferenceReport;
  private readonly stopped = new AbortController();
  private readonly rounds = new Rounds((error) => this.options.onFault?.(error));
  private readonly cloud: CloudView;
  private readonly comparisons: CloudComparisons;
  private readonly settling: Settling;
  private watch: FolderWatch | null = null;
  private scanTimer: NodeJS.Timeout | undefined;
  private readonly guard: FolderGuard;
  private readonly keeper: ConflictKeeper;

  constructor(private readonly options: LiveFolderOptions) {
    this.report = new DifferenceReport(this.docPath, options.state, options);
    this.cloud = new CloudView(options, this.report.differences, this.report.add);
    this.comparisons = new CloudComparisons(this.cloud, this.rounds, this.report, this.signal);
    this.guard = new FolderGuard(rootOf(options));
    this.settling = new Settling(options.now);
    this.keeper = new ConflictKeeper(options, (file) => options.putFile(file));
  }

  /**
   * Compares both sides now and after each change. Without `watch`, only the Cloud's changes are compared. Call it
   * after each connection: the Cloud may have changed, and sending may have failed.
   */
  start({ watch }: { watch: boolean }): void {
    if (watch) {
      this.watch ??= new FolderWatch(rootOf(this.options).directory, () => this.request());
      this.request();
    }
    this.comparisons.compareAll();
  }

  /** Waits for running work. Nothing is sent afterwards. */
  async stop(): Promise<void> {
    this.stopped.abort(new Error('The client is closing.'));
    clearTimeout(this.scanTimer);
    this.comparisons.end();
    this.watch?.close();
    await this.rounds.end();
  }

  /** Others have changed these Cloud files; null if it is unknown which. */
  filesChanged(files: readonly ChangedFile[] | null): void {
    if (files === null) return this.comparisons.compareAll();
    const own = files.filter(({ docPath }) => this.has(docPath));
    if (own.length === 0) return;
    this.comparisons.compareFiles(own);
  }

  /**
   * Writes the Cloud's content into the folder if the folder still has the base and the Cloud the version that was
   * shown.
   */
  private pull(shown: Difference): Promise<SyncReport> {
    const pull = () => this.whileWriting([shown.docPath], () => this.pullOne(shown), this.signal);
    return this.rounds.enqueue(pull);
  }

  private async pullOne(shown: Difference): Promise<SyncReport> {
    const sync = this.sync((docPath) => docPath === shown.docPath);
    const report = await pullFolder({ ...sync, delete: true, expects: shown });
    // A pull of this kind changes neither name nor mode.
    if (report.moved.files > 0)
      await this.cloud.compareFiles([{ ...shown, path: shown.cloudPath, sha256: shown.remote }]);
    this.report.sendStatus();
    return report;
  }

  /** A Cloud change for the user's decision, and the function that applies it. */
  async proposalOf(
    difference: Difference,
  ): Promise<{ proposal: FileProposal; note: string | undefined; apply: () => Promise<SyncReport> }> {
    const shown = await this.rounds.enqueue(() => this.atLocalPath(difference));
    const proposal = await cloudProposal(this.options, shown);
    const note = await ignoreNote(this.options, [proposal], this.signal);
    return { proposal, note, apply: () => this.pull(shown) };
  }

  /** The path that a pull would write to: local folders may be spelled differently. */
  private async atLocalPath(difference: Difference): Promise<Difference> {
    const sync = this.sync((docPath) => docPath === difference.docPath);
    const { planned } = await pullFolder({ ...sync, delete: true, dryRun: true, expects: difference });
    return { ...difference, path: planned[0]?.path ?? difference.path };
  }

  /** Aborted when syncing ends. */
  get signal(): AbortSignal {
    return this.stopped.signal;
  }

  whileWriting<T>(docPaths: readonly string[], work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.claims.withClaims([...new Set(this.ownOf(docPaths))], work, signal);
  }

  async uploadChanged(docPaths: readonly string[]): Promise<void> {
    this.options.state.refresh();
    const changed: string[] = [];
    for (const docPath of this.ownOf(docPaths)) if (await this.isChanged(docPath)) changed.push(docPath);
    if (changed.length === 0) return;
    const wanted = new Set(changed);
    const sent = this.sendSettled(wanted);
    // Files that cannot be sent now are sent by a later round, so the call must not fail.
    await Promise.race([sent.catch(() => undefined), setTimeout(UPLOAD_WAIT_MS, undefined, { ref: false })]);
  }

  /** Sends files when they no longer change, so that no half-written file becomes a version. */
  private async sendSettled(docPaths: ReadonlySet<string>): Promise<void> {
    for (;;) {
      await this.rounds.enqueue(() => this.send((docPath) => docPaths.has(docPath)));
      if (![...docPaths].some((docPath) => this.settling.isHeld(docPath))) return;
      await setTimeout(this.settling.dueInMs + 1, undefined, { signal: this.signal, ref: false });
    }
  }

  baseOf(docPath: string): string | null {
    return this.options.state.baseOf(docPath);
  }

  isInCloud(docPath: string, sha256: string): boolean {
    return this.baseOf(docPath) === sha256 || this.keeper.hasKept(docPath, sha256);
  }

  async noteSending(docPath: string, sha256: string): Promise<void> {
    this.options.state.noteSent(docPath, sha256);
    await this.save();
  }

  cloudPathOf(path: string): string {
    const { name } = rootOf(this.options);
    return new CloudSpelling(name, this.options.state).pathOf(belowRoot(path.slice(1)));
  }

  async noteUploaded(
    { docPath, path, sha256 }: Parameters<FolderLedger['noteUploaded']>[0],
    cloudPath: string,
  ): Promise<void> {
    this.options.state.noteSame(docPath, sha256, { localPath: belowRoot(path.slice(1)), cloudPath });
    await this.save();
    this.report.differences.drop(docPath);
    this.keeper.forget(docPath);
    this.report.sendStatus();
  }

  /** Whether the docPath belongs to this folder. */
  has(docPath: string): boolean {
    return docPath.startsWith(`${this.docPath}/`);
  }

  private ownOf(docPaths: readonly string[]): string[] {
    return docPaths.filter((docPath) => this.has(docPath));
  }

  private get docPath(): string {
    return foldCase(rootOf(this.options).name);
  }

  /** On a full disk the state is saved by a later call, so this one must not fail. */
  private async save(): Promise<void> {
    await this.options.state.save().catch((error: unknown) => this.options.onFault?.(error));
  }

  private request(): void {
    this.rounds.request(() => this.round());
  }

  /** Scans the folder and sends its changes. */
  private async round(): Promise<void> {
    clearTimeout(this.scanTimer);
    const { state } = this.options;
    const began = performance.now();
    let pauseMs = RESCAN_MS.failed;
    try {
      state.refresh();
      await this.send(state.isSynced ? undefined : (docPath) => state.baseOf(docPath) !== null, true);
      this.settling.prune();
      pauseMs = Math.min(this.pauseAfter(performance.now() - began), this.settling.dueInMs + 1);
    } finally {
      this.scheduleScan(pauseMs);
    }
  }

  /** Without reliable hints, scans take at most an eighth of the time. */
  private pauseAfter(tookMs: number): number {
    return this.watch?.isTrusted ? RESCAN_MS.trusted : Math.max(RESCAN_MS.untrusted, 8 * tookMs);
  }

  private scheduleScan(afterMs: number): void {
    if (this.watch === null || this.signal.aborted) return;
    this.scanTimer = globalThis.setTimeout(() => this.request(), afterMs).unref();
  }

  /** Sends local changes and records conflicts. */
  private async send(only?: (docPath: string) => boolean, isWhole = false): Promise<void> {
    const seen = (scan: FolderScan): void => {
      const isNew = this.watch?.follow(scan.folders) ?? false;
      if (isNew) this.request();
    };
    this.guard.check();
    const report = await pushFolder({ ...this.sync(only), delete: !this.guard.isEmpty, onScan: seen });
    for (const conflict of report.conflicts) await this.handleConflict(conflict);
    await this.recheckConflicts(report, only);
    if (isWhole) this.report.addUnsent(report, (docPath) => this.settling.isHeld(docPath));
    await this.cloud.dropHidden();
    const { moved, deleted, faults, secrets } = report;
    if (moved.files + deleted + faults.length + secrets.length > 0) this.options.onReport?.(report);
    this.report.sendStatus();
  }

  private sync(only?: (docPath: string) => boolean): FolderSync {
    const { files, roots, state, maxFileBytes, exclude, secrets } = this.options;
    return {
      ...{ files, roots, state, maxFileBytes, exclude, secrets, progress: silent },
      ...{ claims: this.claims, settling: this.settling },
      ...{ force: false, delete: false, dryRun: false, signal: this.signal },
      ...(only && { only }),
    };
  }

  private async handleConflict(conflict: Conflict): Promise<void> {
    const { path, docPath, remote, renamedTo } = conflict;
    const cloudPath = `/${rootOf(this.options).name}/${renamedTo ?? path}`;
    const difference = { docPath, path, base: this.baseOf(docPath), remote, cloudPath };
    if (renamedTo !== undefined)
      return this.report.add({
        ...difference,
        kind: 'renamedOnBoth',
        reason: `in the Cloud to ${renamedTo}`,
      });
    this.report.add({ ...difference, kind: 'conflict' });
    const kept = await this.keeper.keep(conflict);
    if (kept !== null)
      await this.noteUploaded(
        { docPath, path: `/${rootOf(this.options).name}/${path}`, sha256: kept.sha256 },
        kept.cloudPath,
      );
  }

  /** Conflicts that this scan did not meet may be over, or one side may have returned to the base. */
  private async recheckConflicts(
    { conflicts }: SyncReport,
    only?: (docPath: string) => boolean,
  ): Promise<void> {
    const met = new Set(conflicts.map(({ docPath }) => docPath));
    const unmet = this.report.differences
      .of('conflict')
      .filter(({ docPath }) => !met.has(docPath) && only?.(docPath) !== false);
    await this.cloud.compareFiles(
      unmet.map(({ docPath, cloudPath, remote }) => ({ docPath, path: cloudPath, sha256: remote })),
    );
  }

  /** Whether the disk may hold content that was not sent. */
  private async isChanged(docPath: string): Promise<boolean> {
    const { roots, state } = this.options;
    const path = await new DiskFinder(roots).find(docPath).catch(() => null);
    if (path === null) return state.baseOf(docPath) !== null;
    const stats = lstatSync(join(rootOf(this.options).directory, path), { throwIfNoEntry: false });
    return stats === undefined || !state.isUnchanged(docPath, stampOf(stats));
  }
}
