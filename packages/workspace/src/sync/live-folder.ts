import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type Ack, type ChangedFile, foldCase, type FilePut, type FolderStatus } from '@patchbay/protocol';
import type { FolderLedger } from '../disk/folder-ledger.js';
import type { FileProposal } from '../tools/approver.js';
import { cloudProposal } from './cloud-proposal.js';
import { CloudView } from './cloud-view.js';
import { type Difference, Differences } from './differences.js';
import { DiskFinder } from './disk-finder.js';
import { stampOf } from './file-stamp.js';
import { type FolderSync, rootOf } from './folder-sync.js';
import { FolderWatch } from './folder-watch.js';
import { isLeftOut } from './left-out.js';
import { PathClaims } from './path-claims.js';
import { silent } from './progress.js';
import { pullFolder } from './pull.js';
import { pushFolder } from './push.js';
import { readWhole } from './read-file.js';
import { Rounds } from './rounds.js';
import type { FolderScan } from './scan-folder.js';
import type { Conflict, SyncReport } from './sync-report.js';

/** Longest time, in ms, that a call waits for what it needs to be sent. */
const BRING_UP_MS = 10_000;
/** A look without a hint, in ms: where hints can be trusted, and where not. */
const RESCAN_MS = { trusted: 60_000, untrusted: 1_500 };
/** Time, in ms, after which what failed as a whole is tried again. */
const RETRY_MS = 3_000;

export interface LiveFolderOptions extends Pick<
  FolderSync,
  'files' | 'roots' | 'state' | 'maxFileBytes' | 'exclude'
> {
  /** Sends a file over the relay: what is in conflict is kept as a version beside the head. */
  putFile: (file: FilePut) => Promise<Ack>;
  /** Told of what was sent, and of what could not be. */
  onReport?: (report: SyncReport) => void;
  /** Told once of each difference that a person should know of. */
  onDifference?: (difference: Difference) => void;
  /** Told in what the folder and the Cloud differ, whenever that has changed. */
  onStatus?: (status: FolderStatus) => void;
  /** Told of a round that failed as a whole; the next one tries again. */
  onFault?: (error: unknown) => void;
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
  private readonly rounds = new Rounds((error) => this.failed(error));
  private readonly cloud: CloudView;
  private watch: FolderWatch | null = null;
  private rescan: NodeJS.Timeout | undefined;
  private retry: NodeJS.Timeout | undefined;
  private told = '';

  constructor(private readonly options: LiveFolderOptions) {
    this.cloud = new CloudView(options, this.differences, (difference) => this.tell(difference));
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
    clearTimeout(this.retry);
    this.watch?.close();
    await this.rounds.end();
  }

  /** Somebody else has changed Cloud files, as far as is known these: null, whichever. */
  filesChanged(files: readonly ChangedFile[] | null): void {
    if (files === null) return this.lookAtCloud();
    const prefix = `${this.docPath}/`;
    const own = files.filter(({ docPath }) => docPath.startsWith(prefix));
    if (own.length > 0) this.rounds.enqueue(() => this.cloud.judgeAll(own).then(() => this.report()));
  }

  /** Compares all that the Cloud has with the folder: after a connection, or where too much has changed to be named. */
  lookAtCloud(): void {
    this.rounds.enqueue(async () => {
      await this.cloud.look(this.stopped.signal);
      this.report();
    });
  }

  /** Takes these Cloud texts into the folder, where it still has what both sides last had. */
  private pull(docPaths: readonly string[]): Promise<SyncReport> {
    const wanted = new Set(docPaths);
    return this.rounds.enqueue(async () => {
      const report = await pullFolder({ ...this.sync((docPath) => wanted.has(docPath)), delete: true });
      this.report();
      return report;
    });
  }

  /** A Cloud text that the folder does not have, to be shown to a person, and taken over. */
  async offerOf(
    difference: Difference,
  ): Promise<{ proposal: FileProposal; take: () => Promise<SyncReport> }> {
    const proposal = await cloudProposal(this.options, difference);
    return { proposal, take: () => this.pull([difference.docPath]) };
  }

  /** Aborted when the folder is no longer kept in step. */
  get ending(): AbortSignal {
    return this.stopped.signal;
  }

  writing<T>(docPaths: readonly string[], work: () => Promise<T>): Promise<T> {
    return this.claims.holding([...new Set(this.ownOf(docPaths))], work);
  }

  async bringUp(docPaths: readonly string[]): Promise<void> {
    const changed: string[] = [];
    for (const docPath of this.ownOf(docPaths)) if (await this.isChanged(docPath)) changed.push(docPath);
    if (changed.length === 0) return;
    const wanted = new Set(changed);
    const sent = this.rounds.enqueue(() => this.send((docPath) => wanted.has(docPath)));
    // What cannot be sent now is sent by a later round: the call that asks for it must not fail for that.
    await Promise.race([sent.catch(() => undefined), setTimeout(BRING_UP_MS, undefined, { ref: false })]);
  }

  baseOf(docPath: string): string | null {
    return this.options.state.baseOf(docPath);
  }

  isHeld(docPath: string, segments: readonly string[], sha256: string): boolean {
    return this.baseOf(docPath) === sha256 || isLeftOut(rootOf(this.options).directory, segments);
  }

  async sending(docPath: string, sha256: string): Promise<void> {
    this.options.state.noteSent(docPath, sha256);
    await this.options.state.save();
  }

  async arrived(docPath: string, sha256: string): Promise<void> {
    this.options.state.noteBase(docPath, sha256);
    await this.options.state.save();
    this.differences.drop(docPath);
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

  /** Nothing else would have it tried again: where the server could not be reached, nothing has changed on the disk. */
  private failed(error: unknown): void {
    this.options.onFault?.(error);
    clearTimeout(this.retry);
    this.retry = globalThis.setTimeout(() => this.start({ watch: this.watch !== null }), RETRY_MS).unref();
  }

  private request(): void {
    this.rounds.request(() => this.round());
  }

  /** One look through the folder, and what comes of it. */
  private async round(): Promise<void> {
    clearTimeout(this.rescan);
    this.options.state.refresh();
    const { state } = this.options;
    await this.send(state.isSynced ? undefined : (docPath) => state.baseOf(docPath) !== null);
    if (this.watch === null || this.stopped.signal.aborted) return;
    const pause = this.watch.isTrusted ? RESCAN_MS.trusted : RESCAN_MS.untrusted;
    this.rescan = globalThis.setTimeout(() => this.request(), pause).unref();
  }

  /** Sends what has changed here, and notes what cannot be sent because it has changed there, too. */
  private async send(only?: (docPath: string) => boolean): Promise<void> {
    const seen = (scan: FolderScan): void => {
      const isNew = this.watch?.follow(scan.folders) ?? false;
      if (isNew) this.request();
    };
    const sync = { ...this.sync(only), delete: this.mayDelete(), onScan: seen };
    const report = await pushFolder(sync);
    for (const conflict of report.conflicts) await this.conflicted(conflict);
    this.forgetSettled(report, only);
    if (report.moved.files + report.deleted + report.faults.length > 0) this.options.onReport?.(report);
    this.report();
  }

  private sync(only?: (docPath: string) => boolean): FolderSync {
    const { files, roots, state, maxFileBytes, exclude } = this.options;
    return {
      ...{ files, roots, state, maxFileBytes, exclude, claims: this.claims, progress: silent },
      ...{ force: false, delete: false, dryRun: false, signal: this.stopped.signal },
      ...(only && { only }),
    };
  }

  /** A folder that is empty all at once is rather a disk that is not there than the work of a person. */
  private mayDelete(): boolean {
    try {
      return readdirSync(rootOf(this.options).directory).length > 0;
    } catch {
      return false;
    }
  }

  /** Keeps the text of this side as a version beside the Cloud's: whoever gives way, nothing of it is gone. */
  private async conflicted({ path, docPath, remote }: Conflict): Promise<void> {
    this.tell({ docPath, path, remote, kind: 'conflict' });
    const read = this.readHere(path);
    if (read === null) return;
    const { name } = rootOf(this.options);
    const file = { docPath, path: `/${name}/${path}`, content: read.bytes, sha256: read.sha256 };
    await this.options.putFile({ ...file, baseSha256: this.baseOf(docPath) });
  }

  /** Conflicts that this look did not meet any more. */
  private forgetSettled({ conflicts }: SyncReport, only?: (docPath: string) => boolean): void {
    const met = new Set(conflicts.map(({ docPath }) => docPath));
    for (const { docPath } of this.differences.of('conflict')) {
      if (!met.has(docPath) && only?.(docPath) !== false) this.differences.drop(docPath);
    }
  }

  private readHere(path: string) {
    try {
      return readWhole(join(rootOf(this.options).directory, path), this.options.maxFileBytes);
    } catch {
      return null;
    }
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
