import { type FileStamp, isOlder } from './file-stamp.js';

/** A file is sent after it has not changed for this time in ms, because it may be half written before. */
const STABLE_MS = 500;
/** A file that changes constantly is sent after this time in ms. */
const OVERDUE_MS = 5_000;
/**
 * A deleted file is deleted in the Cloud after this time in ms, because many programs save by deleting and creating.
 */
const GONE_MS = 2_000;

interface Change {
  stamp: FileStamp;
  /** When this stamp was first seen, and when the first unsent change was seen. */
  since: number;
  first: number;
}

/** Delays the upload of files that are being written. */
export class Settling {
  private readonly changes = new Map<string, Change>();
  private readonly missing = new Map<string, number>();
  /** Delayed docPaths and the time at which they are due. */
  private readonly held = new Map<string, number>();
  private queried = new Set<string>();

  /** @param now monotonic time in ms */
  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Whether a changed file may be sent: it is stable, or has been changing for too long. */
  isStable(docPath: string, stamp: FileStamp): boolean {
    const now = this.now();
    const known = this.changes.get(docPath);
    const since = known?.stamp === stamp ? known.since : now;
    const change = { stamp, since, first: known?.first ?? now };
    this.changes.set(docPath, change);
    this.missing.delete(docPath);
    return this.isDue(docPath, isOlder(stamp, STABLE_MS, Date.now()) ? now : dueOf(change));
  }

  /** Call it when the change was sent or has disappeared. */
  done(docPath: string): void {
    this.changes.delete(docPath);
    this.held.delete(docPath);
  }

  /** Whether a file has been missing for long enough to be deleted in the Cloud. */
  isGone(docPath: string): boolean {
    const now = this.now();
    const since = this.missing.get(docPath) ?? now;
    this.missing.set(docPath, since);
    this.changes.delete(docPath);
    return this.isDue(docPath, since + GONE_MS);
  }

  private isDue(docPath: string, due: number): boolean {
    const isDue = this.now() >= due;
    this.queried.add(docPath);
    if (isDue) this.held.delete(docPath);
    else this.held.set(docPath, due);
    return isDue;
  }

  isHeld(docPath: string): boolean {
    return this.changes.has(docPath) && this.held.has(docPath);
  }

  /** Drops docPaths that were not queried since the last call. Call it after a whole scan. */
  prune(): void {
    for (const known of [this.changes, this.missing, this.held])
      for (const docPath of known.keys()) if (!this.queried.has(docPath)) known.delete(docPath);
    this.queried = new Set();
  }

  /** Time in ms until the next delayed file is due; Infinity if there is none. */
  get dueInMs(): number {
    let next = Infinity;
    for (const due of this.held.values()) next = Math.min(next, due);
    return Math.max(0, next - this.now());
  }
}

function dueOf({ since, first }: Change): number {
  return Math.min(since + STABLE_MS, first + OVERDUE_MS);
}
