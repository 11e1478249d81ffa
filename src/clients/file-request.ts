import type { FileOutcome, FileWish } from '../events/bus.js';
import { isWanted, saysMore } from './file-reading.js';

/** How long a node may take to say that it asks its clients, and to hand over what they gave in their time, in ms. */
const SIGN_MS = 500;
const PASSING_MS = 1_000;

type Ended = Exclude<FileOutcome, { kind: 'asking' }>;
/** What the other nodes have said together. */
export type RemoteOutcome = Ended | { kind: 'nobody' };

/** A file that was asked for of the other nodes: waits for those that have somebody to ask, for as long as a client may take. */
export class FileRequest {
  private best: RemoteOutcome = { kind: 'nobody' };
  /** Nodes that ask their clients, and whether they have ended. */
  private readonly nodes = new Map<string, boolean>();
  private isLate = false;
  private settle!: (outcome: RemoteOutcome) => void;
  private readonly timers: NodeJS.Timeout[];

  /** Settles once, with what says most. */
  readonly outcome = new Promise<RemoteOutcome>((resolve) => (this.settle = resolve));

  /** @param readMs how long a client may take to give it. */
  constructor(
    private readonly wish: FileWish,
    readMs: number,
  ) {
    const signsOver = setTimeout(() => {
      this.isLate = true;
      this.check();
    }, SIGN_MS).unref();
    this.timers = [signsOver, setTimeout(() => this.end(this.best), readMs + PASSING_MS).unref()];
  }

  /** A node says how it stands there; the same again changes nothing. */
  hear(node: string, outcome: FileOutcome): void {
    if (outcome.kind === 'asking') {
      this.nodes.set(node, this.nodes.get(node) ?? false);
      if (this.best.kind === 'nobody') this.best = { kind: 'silent' };
      return;
    }
    this.nodes.set(node, true);
    if (outcome.kind === 'given' && isWanted(this.wish, outcome)) return this.end(outcome);
    if (saysMore(outcome, this.best)) this.best = outcome;
    this.check();
  }

  /** All that there was to hear has been heard. */
  private check(): void {
    if (this.isLate && [...this.nodes.values()].every((hasEnded) => hasEnded)) this.end(this.best);
  }

  private end(outcome: RemoteOutcome): void {
    this.timers.forEach(clearTimeout);
    this.settle(outcome);
  }
}
