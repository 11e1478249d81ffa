import type { Excess } from './budget.js';
import { type Reservation, reservation } from './reservation.js';
import { RoundRobin } from './round-robin.js';

export interface QueueLimits {
  /** How many may run at once, in total and per key. */
  running?: number;
  runningOfKey?: number;
  /** How many may wait, in total and per key. */
  waiting?: number;
  waitingOfKey?: number;
  /** Creates the error of a refused waiter: its own key has too many, or all keys together. */
  refuse?: (excess: Excess) => Error;
}

interface Waiter {
  start: (slot: Reservation) => void;
  refuse: (error: Error) => void;
}

/**
 * Bounds running and waiting work. Keys take turns, and each key is first in, first out: a waiter waits for at most one
 * other of each key. If too many wait in total, the last of the longest queue is refused, so that a new key can enter.
 */
export class FairQueue {
  private readonly limits: Required<QueueLimits>;
  private readonly waiting = new RoundRobin<Waiter>();
  private readonly running = new Map<string, number>();
  private count = 0;

  constructor(limits: QueueLimits) {
    const refuse = (): Error => new Error('Too many wait');
    const [running, runningOfKey, waiting, waitingOfKey] = [Infinity, Infinity, Infinity, Infinity];
    this.limits = { ...{ running, runningOfKey, waiting, waitingOfKey, refuse }, ...limits };
  }

  /** Runs the work when it is its turn. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const slot = await this.enter(key);
    try {
      return await work();
    } finally {
      slot.release();
    }
  }

  /** Resolves when it is the caller's turn, with the slot to release; rejects if too many wait. */
  enter(key: string): Promise<Reservation> {
    return new Promise((start, refuse) => {
      if (this.mayRun(key)) return start(this.start(key));
      this.evict(key);
      this.waiting.push(key, { start, refuse });
    });
  }

  /** Refuses all waiters. */
  clear(error: Error): void {
    for (let waiter = this.waiting.shift(); waiter !== undefined; waiter = this.waiting.shift())
      waiter.refuse(error);
  }

  private mayRun(key: string): boolean {
    const { running, runningOfKey } = this.limits;
    return this.count < running && (this.running.get(key) ?? 0) < runningOfKey;
  }

  private evict(key: string): void {
    const { waiting, waitingOfKey, refuse } = this.limits;
    const own = this.waiting.sizeOf(key);
    if (own >= waitingOfKey) throw refuse('owner');
    if (this.waiting.size < waiting) return;
    const last = this.waiting.popLongest(own + 1);
    if (last === undefined) throw refuse('all');
    last.refuse(refuse('all'));
  }

  private start(key: string): Reservation {
    this.count += 1;
    this.running.set(key, (this.running.get(key) ?? 0) + 1);
    return reservation(() => this.end(key));
  }

  private end(key: string): void {
    // If other keys could run, none of them waits.
    const wasFull = this.count === this.limits.running;
    const left = this.running.get(key)! - 1;
    this.count -= 1;
    if (left > 0) this.running.set(key, left);
    else this.running.delete(key);
    const next = wasFull ? this.waiting.next((other) => this.mayRun(other)) : key;
    if (next !== undefined) this.waiting.shift(next)?.start(this.start(next));
  }
}
