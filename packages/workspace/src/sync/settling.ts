import { type FileStamp, isOlder } from './file-stamp.js';

/** A file is sent once it has not changed for so long, in ms: until then it may be half written. */
const STILL_MS = 500;
/** One that changes all the time is sent after so long as it is. */
const OVERDUE_MS = 5_000;
/** A file that is gone is deleted in the Cloud after so long: many programs save by deleting and writing again. */
const GONE_MS = 2_000;

interface Change {
  stamp: FileStamp;
  /** When this stamp was first seen, and when the first change was that is not sent yet. */
  since: number;
  first: number;
}

/** Puts off what is sent of a folder until whoever writes a file has finished. */
export class Settling {
  private readonly changes = new Map<string, Change>();
  private readonly missing = new Map<string, number>();
  /** docPaths of which the last answer was no, and when it will be yes. */
  private readonly held = new Map<string, number>();
  private asked = new Set<string>();

  /** @param now in ms, never going back */
  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Whether a changed file may be sent: it has not changed for a while, or has been changing for too long. */
  isStill(docPath: string, stamp: FileStamp): boolean {
    const now = this.now();
    const known = this.changes.get(docPath);
    const since = known?.stamp === stamp ? known.since : now;
    const change = { stamp, since, first: known?.first ?? now };
    this.changes.set(docPath, change);
    this.missing.delete(docPath);
    return this.answer(docPath, isOlder(stamp, STILL_MS, Date.now()) ? now : dueOf(change));
  }

  /** What was held back of a changed file is sent, or there is nothing to send. */
  done(docPath: string): void {
    this.changes.delete(docPath);
    this.held.delete(docPath);
  }

  /** Whether a missing file has been missing for long enough to be deleted in the Cloud. */
  isGone(docPath: string): boolean {
    const now = this.now();
    const since = this.missing.get(docPath) ?? now;
    this.missing.set(docPath, since);
    this.changes.delete(docPath);
    return this.answer(docPath, since + GONE_MS);
  }

  private answer(docPath: string, due: number): boolean {
    const isDue = this.now() >= due;
    this.asked.add(docPath);
    if (isDue) this.held.delete(docPath);
    else this.held.set(docPath, due);
    return isDue;
  }

  /** Whether a changed file is held back. */
  isHeld(docPath: string): boolean {
    return this.changes.has(docPath) && this.held.has(docPath);
  }

  /** Forgets what nobody has asked about since the last time: after a look at the whole folder. */
  prune(): void {
    for (const known of [this.changes, this.missing, this.held])
      for (const docPath of known.keys()) if (!this.asked.has(docPath)) known.delete(docPath);
    this.asked = new Set();
  }

  /** In how many ms the next of what is held back may be sent; Infinity where nothing is. */
  get dueInMs(): number {
    let next = Infinity;
    for (const due of this.held.values()) next = Math.min(next, due);
    return Math.max(0, next - this.now());
  }
}

function dueOf({ since, first }: Change): number {
  return Math.min(since + STILL_MS, first + OVERDUE_MS);
}
