import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import {
  type Ack,
  type ChangedFile,
  foldCase,
  type FilePut,
  type FilePutAnswer,
  type FolderStatus,
} from '@patchbay/protocol';
import type { FolderLedger } from '../disk/folder-ledger.js';
import { ignoreNote } from '../visible/ignore-note.js';
import type { FileProposal } from '../approval/approver.js';
import { cloudProposal } from './cloud-proposal.js';
import { CloudSpelling } from './cloud-spelling.js';
import { CloudView } from './cloud-view.js';
import { ConflictKeeper } from './conflict-keeper.js';
import { type Difference, Differences } from './differences.js';
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

/** Longest time, in ms, that a call waits for what it needs to be sent. */
const BRING_UP_MS = 10_000;
/** A look without a hint, in ms: where hints can be trusted, and where not. */
const RESCAN_MS = { trusted: 60_000, untrusted: 1_500, failed: 3_000 };
/** The Cloud tells of its changes, but a word may be lost: so often, in ms, all of it is looked at. */
const CLOUD_LOOK_MS = 300_000;

/** What a folder is kept in step with, and who is told. */
export interface LiveFolderOptions extends Pick<
  FolderSync,
  'files' | 'roots' | 'state' | 'maxFileBytes' | 'exclude' | 'secrets'
> {
  /** Sends a file over the relay: what is in conflict is kept as a version beside the head. */
  putFile: (file: FilePut) => Promise<Ack<FilePutAnswer>>;
  /** Told of what was sent, of what could not be, and at every look of what is kept out. */
  onReport?: (report: SyncReport) => void;
  /** Told once of each difference that a person should know of. */
  onDifference?: (difference: Difference) => void;
  /** Told in what the folder and the Cloud differ, whenever that has changed. */
  onStatus?: (status: FolderStatus) => void;
  /** Told of a round that failed as a whole; the next one tries again. */
  onFault?: (error: unknown) => void;
  /** In ms, never going back; by it what is being written is held back. */
  now?: () => number;
}

/**
 * Keeps one folder in step while its client is connected: what changes on the disk is sent on the base that both sides
 * last had; what changes in the Cloud is told, and comes to the disk only when a person says so. In a folder that was
 * never pushed or pulled only the files are kept in step that calls have written.
 */
export class LiveFolder implements FolderLedger {
  private readonly claims = new PathClaims();
  private readonly differences = new Differences();
  private readonly stopped = new AbortController();
  private readonly rounds = new Rounds((error) => this.options.onFault?.(error));
  private readonly cloud: CloudView;
  private readonly settling: Settling;
  private watch: FolderWatch | null = null;
  private rescan: NodeJS.Timeout | undefined;
  private cloudLook: NodeJS.Timeout | undefined;
  private told = '';
  private readonly guard: FolderGuard;
  private readonly keeper: ConflictKeeper;

  constructor(private readonly options: LiveFolderOptions) {
    this.cloud = new CloudView(options, this.differences, (difference) => this.tell(difference));
    this.guard = new FolderGuard(rootOf(options));
    this.settling = new Settling(options.now);
    this.keeper = new ConflictKeeper(options, (file) => options.putFile(file));
  }

  /**
   * Looks at both sides, and from then on again whenever one of them changes; without `watch` only at the Cloud's. Called
   * once more after each connection: the Cloud may have changed since, and what was to be sent may have failed.
   */
  start({ watch }: { watch: boolean }): void {
    if (watch) {
      this.watch ??= new FolderWatch(rootOf(this.options).directory, () => this.request());
      this.request();
    }
    this.lookAtCloud();
  }

  /** Ends what is under way; nothing is sent any more. */
  async stop(): Promise<void> {
    this.stopped.abort(new Error('The client is closing.'));
    clearTimeout(this.rescan);
    clearTimeout(this.cloudLook);
    this.watch?.close();
    await this.rounds.end();
  }

  /** Somebody else has changed Cloud files, as far as is known these: null, whichever. */
  filesChanged(files: readonly ChangedFile[] | null): void {
    if (files === null) return this.lookAtCloud();
    const own = files.filter(({ docPath }) => this.has(docPath));
    if (own.length === 0) return;
    // What was not seen is seen by a look at all; one that is due stays due.
    this.seeCloud(() => this.cloud.judgeAll(own)).catch(() => this.lookAfter(RESCAN_MS.failed));
  }

  /** Compares all that the Cloud has with the folder: after a connection, now and then, or where much has changed. */
  private lookAtCloud(): void {
    this.seeCloud(() => this.cloud.look(this.stopped.signal)).then(
      () => this.lookAfter(CLOUD_LOOK_MS),
      () => this.lookAfter(RESCAN_MS.failed),
    );
  }

  private seeCloud(look: () => Promise<void>): Promise<void> {
    return this.rounds.enqueue(async () => {
      await look();
      this.report();
    });
  }

  private lookAfter(pauseMs: number): void {
    clearTimeout(this.cloudLook);
    if (this.stopped.signal.aborted) return;
    this.cloudLook = globalThis.setTimeout(() => this.lookAtCloud(), pauseMs).unref();
  }

  /** Takes a Cloud text into the folder, where it still has what both sides last had, and the Cloud what was shown. */
  private pull(shown: Difference): Promise<SyncReport> {
    const pull = () => this.writing([shown.docPath], () => this.pullOne(shown), this.stopped.signal);
    return this.rounds.enqueue(pull);
  }

  private async pullOne(shown: Difference): Promise<SyncReport> {
    const sync = this.sync((docPath) => docPath === shown.docPath);
    const report = await pullFolder({ ...sync, delete: true, expects: shown });
    // Its name and its mode are still as they were here.
    if (report.moved.files > 0)
      await this.cloud.judgeAll([{ ...shown, path: shown.there, sha256: shown.remote }]);
    this.report();
    return report;
  }

  /** A Cloud text that the folder does not have, to be shown to a person, and taken over. */
  async offerOf(
    difference: Difference,
  ): Promise<{ proposal: FileProposal; note: string | undefined; take: () => Promise<SyncReport> }> {
    const shown = await this.rounds.enqueue(() => this.shownAt(difference));
    const proposal = await cloudProposal(this.options, shown);
    const note = await ignoreNote(this.options, [proposal], this.stopped.signal);
    return { proposal, note, take: () => this.pull(shown) };
  }

  /** The file where a pull would write it: its folder may be spelt otherwise here. */
  private async shownAt(difference: Difference): Promise<Difference> {
    const sync = this.sync((docPath) => docPath === difference.docPath);
    const { planned } = await pullFolder({ ...sync, delete: true, dryRun: true, expects: difference });
    return { ...difference, path: planned[0]?.path ?? difference.path };
  }

  /** Aborted when the folder is no longer kept in step. */
  get ending(): AbortSignal {
    return this.stopped.signal;
  }

  writing<T>(docPaths: readonly string[], work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.claims.holding([...new Set(this.ownOf(docPaths))], work, signal);
  }

  async bringUp(docPaths: readonly string[]): Promise<void> {
    this.options.state.refresh();
    const changed: string[] = [];
    for (const docPath of this.ownOf(docPaths)) if (await this.isChanged(docPath)) changed.push(docPath);
    if (changed.length === 0) return;
    const wanted = new Set(changed);
    const sent = this.sendSettled(wanted);
    // What cannot be sent now is sent by a later round: the call that asks for it must not fail for that.
    await Promise.race([sent.catch(() => undefined), setTimeout(BRING_UP_MS, undefined, { ref: false })]);
  }

  /** Sends files as soon as nobody is writing them any more, so that no half-written one becomes a version. */
  private async sendSettled(docPaths: ReadonlySet<string>): Promise<void> {
    for (;;) {
      await this.rounds.enqueue(() => this.send((docPath) => docPaths.has(docPath)));
      if (![...docPaths].some((docPath) => this.settling.isHeld(docPath))) return;
      await setTimeout(this.settling.dueInMs + 1, undefined, { signal: this.ending, ref: false });
    }
  }

  baseOf(docPath: string): string | null {
    return this.options.state.baseOf(docPath);
  }

  isHeld(docPath: string, sha256: string): boolean {
    return this.baseOf(docPath) === sha256 || this.keeper.holds(docPath, sha256);
  }

  async sending(docPath: string, sha256: string): Promise<void> {
    this.options.state.noteSent(docPath, sha256);
    await this.save();
  }

  cloudPathOf(path: string): string {
    const { name } = rootOf(this.options);
    return new CloudSpelling(name, this.options.state).pathOf(belowRoot(path.slice(1)));
  }

  async arrived(
    { docPath, path, sha256 }: Parameters<FolderLedger['arrived']>[0],
    there: string,
  ): Promise<void> {
    this.options.state.noteSame(docPath, sha256, { here: belowRoot(path.slice(1)), there });
    await this.save();
    this.differences.drop(docPath);
    this.keeper.forget(docPath);
    this.report();
  }

  /** Whether it is the docPath of a file of this folder. */
  has(docPath: string): boolean {
    return docPath.startsWith(`${this.docPath}/`);
  }

  private ownOf(docPaths: readonly string[]): string[] {
    return docPaths.filter((docPath) => this.has(docPath));
  }

  private get docPath(): string {
    return foldCase(rootOf(this.options).name);
  }

  /** What cannot be remembered now, for a full disk, is saved with what comes next: the call must not fail for that. */
  private async save(): Promise<void> {
    await this.options.state.save().catch((error: unknown) => this.options.onFault?.(error));
  }

  private request(): void {
    this.rounds.request(() => this.round());
  }

  /** One look through the folder, and what comes of it. */
  private async round(): Promise<void> {
    clearTimeout(this.rescan);
    const { state } = this.options;
    const began = performance.now();
    let pauseMs = RESCAN_MS.failed;
    try {
      state.refresh();
      await this.send(state.isSynced ? undefined : (docPath) => state.baseOf(docPath) !== null, true);
      this.settling.prune();
      pauseMs = Math.min(this.pauseAfter(performance.now() - began), this.settling.dueInMs + 1);
    } finally {
      this.lookAgain(pauseMs);
    }
  }

  /** How long a look is put off without a hint: where hints are not to be trusted not so often as it could be had. */
  private pauseAfter(tookMs: number): number {
    return this.watch?.isTrusted ? RESCAN_MS.trusted : Math.max(RESCAN_MS.untrusted, 8 * tookMs);
  }

  private lookAgain(afterMs: number): void {
    if (this.watch === null || this.stopped.signal.aborted) return;
    this.rescan = globalThis.setTimeout(() => this.request(), afterMs).unref();
  }

  /** Sends what has changed here, and notes what cannot be sent because it has changed there, too. */
  private async send(only?: (docPath: string) => boolean, isWhole = false): Promise<void> {
    const seen = (scan: FolderScan): void => {
      const isNew = this.watch?.follow(scan.folders) ?? false;
      if (isNew) this.request();
    };
    this.guard.check();
    const report = await pushFolder({ ...this.sync(only), delete: !this.guard.isEmpty, onScan: seen });
    for (const conflict of report.conflicts) await this.conflicted(conflict);
    await this.judgeUnmet(report, only);
    if (isWhole) this.tellUnsent(report);
    await this.cloud.dropHidden();
    const { moved, deleted, faults, secrets } = report;
    if (moved.files + deleted + faults.length + secrets.length > 0) this.options.onReport?.(report);
    this.report();
  }

  private sync(only?: (docPath: string) => boolean): FolderSync {
    const { files, roots, state, maxFileBytes, exclude, secrets } = this.options;
    return {
      ...{ files, roots, state, maxFileBytes, exclude, secrets, progress: silent },
      ...{ claims: this.claims, settling: this.settling },
      ...{ force: false, delete: false, dryRun: false, signal: this.stopped.signal },
      ...(only && { only }),
    };
  }

  private tellUnsent({ unsent }: SyncReport): void {
    const found = unsent.map(({ path, docPath, remote, reason }): Difference => {
      return { path, docPath, there: `/${docPath}`, base: remote, remote, kind: 'unsent', reason };
    });
    const isHeld = (docPath: string) => this.settling.isHeld(docPath);
    for (const difference of this.differences.noteUnsent(found, isHeld))
      this.options.onDifference?.(difference);
  }

  private async conflicted(conflict: Conflict): Promise<void> {
    const { path, docPath, remote, renamedTo } = conflict;
    const there = `/${rootOf(this.options).name}/${renamedTo ?? path}`;
    const difference = { docPath, path, base: this.baseOf(docPath), remote, there };
    if (renamedTo !== undefined)
      return this.tell({ ...difference, kind: 'renamedOnBoth', reason: `to ${renamedTo} there` });
    this.tell({ ...difference, kind: 'conflict' });
    const kept = await this.keeper.keep(conflict);
    if (kept !== null)
      await this.arrived(
        { docPath, path: `/${rootOf(this.options).name}/${path}`, sha256: kept.sha256 },
        kept.there,
      );
  }

  /** Conflicts that this look did not meet: they may be over, or one side has gone back to what both had. */
  private async judgeUnmet({ conflicts }: SyncReport, only?: (docPath: string) => boolean): Promise<void> {
    const met = new Set(conflicts.map(({ docPath }) => docPath));
    const unmet = this.differences
      .of('conflict')
      .filter(({ docPath }) => !met.has(docPath) && only?.(docPath) !== false);
    await this.cloud.judgeAll(
      unmet.map(({ docPath, there, remote }) => ({ docPath, path: there, sha256: remote })),
    );
  }

  /** Whether the disk may hold something that the Cloud was not sent. */
  private async isChanged(docPath: string): Promise<boolean> {
    const { roots, state } = this.options;
    const path = await new DiskFinder(roots).find(docPath).catch(() => null);
    if (path === null) return state.baseOf(docPath) !== null;
    const stats = lstatSync(join(rootOf(this.options).directory, path), { throwIfNoEntry: false });
    return stats === undefined || !state.isUnchanged(docPath, stampOf(stats));
  }

  private tell(difference: Difference): void {
    if (this.differences.note(difference)) this.options.onDifference?.(difference);
  }

  /** Tells the server, where something has changed since it was told. */
  private report(): void {
    this.differences.settle(this.options.state);
    const status = this.differences.statusOf(this.docPath);
    const text = JSON.stringify(status);
    if (text === this.told) return;
    this.told = text;
    this.options.onStatus?.(status);
  }
}
