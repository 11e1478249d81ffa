import { type Excess, Budget } from './budget.js';

/** What may be in a fair queue, counted in items and in their bytes, waiting and running together. */
export interface QueueBounds {
  /** Items that run at once, and how many of them may be one owner's. */
  running: number;
  runningOfOwner: number;
  /** Items that wait, in all, which owners share as in any `Budget`, and most of one owner. */
  waiting: number;
  waitingOfOwner: number;
  /** Bytes held, in all, shared in the same way; so many of an item are few. */
  bytes: number;
  smallBytes: number;
}

export interface Queued<Item> {
  readonly owner: string;
  readonly bytes: number;
  readonly item: Item;
}

interface Lane<Item> {
  waiting: Queued<Item>[];
  running: number;
}

/** First in, first out for each owner, and owners in turn: so nobody waits for more than one item of each other owner. */
export class FairQueue<Item> {
  /** Owners in the order in which their turn comes; who has been served goes to the end. */
  private readonly lanes = new Map<string, Lane<Item>>();
  private running = 0;
  private readonly waiting: Budget;
  private readonly bytes: Budget;

  constructor(private readonly bounds: QueueBounds) {
    this.waiting = new Budget(bounds.waiting);
    this.bytes = new Budget(bounds.bytes, bounds.smallBytes);
  }

  /** Adds an item, unless that exceeds a bound: then says whose. */
  push(queued: Queued<Item>): Excess | null {
    const { owner, bytes } = queued;
    const lane = this.lanes.get(owner) ?? { waiting: [], running: 0 };
    if (lane.waiting.length >= this.bounds.waitingOfOwner) return 'owner';
    const excess = this.waiting.excess(owner, 1) ?? this.bytes.excess(owner, bytes);
    if (excess !== null) return excess;
    lane.waiting.push(queued);
    this.waiting.change(owner, 1);
    this.bytes.change(owner, bytes);
    this.lanes.set(owner, lane);
    return null;
  }

  /** The next item that may run now; tell `done` when it has ended. */
  take(): Queued<Item> | undefined {
    if (this.running >= this.bounds.running) return undefined;
    for (const [owner, lane] of this.lanes) {
      if (lane.waiting.length === 0 || lane.running >= this.bounds.runningOfOwner) continue;
      const next = lane.waiting.shift()!;
      lane.running += 1;
      this.running += 1;
      this.waiting.change(owner, -1);
      this.lanes.delete(owner);
      this.lanes.set(owner, lane);
      return next;
    }
    return undefined;
  }

  /** An item that was taken has ended. */
  done({ owner, bytes }: Queued<Item>): void {
    const lane = this.lanes.get(owner)!;
    lane.running -= 1;
    this.running -= 1;
    this.forget(owner, lane, bytes);
  }

  /** Takes out all that waits. */
  clear(): Queued<Item>[] {
    const dropped: Queued<Item>[] = [];
    for (const [owner, lane] of this.lanes) {
      for (const queued of lane.waiting.splice(0)) {
        dropped.push(queued);
        this.waiting.change(owner, -1);
        this.forget(owner, lane, queued.bytes);
      }
    }
    return dropped;
  }

  private forget(owner: string, lane: Lane<Item>, bytes: number): void {
    this.bytes.change(owner, -bytes);
    if (lane.running === 0 && lane.waiting.length === 0) this.lanes.delete(owner);
  }
}
