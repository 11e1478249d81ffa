import type { Excess } from './budget.js';
import { type Reservation, reservation } from './reservation.js';
import { RoundRobin } from './round-robin.js';

export interface QueueLimits {
  /** How many run at once, in all and of one key. */
  running?: number;
  runningOfKey?: number;
  /** How many wait, in all and of one key. */
  waiting?: number;
  waitingOfKey?: number;
  /** What a waiter is refused with: its own key has too many, or all have. */
  refuse?: (excess: Excess) => Error;
}

interface Waiter {
  start: (place: Reservation) => void;
  refuse: (error: Error) => void;
}

/**
 * Bounds what runs and what waits. Keys take turns, and each of them is first in, first out: so a waiter waits for at most
 * one other of each key. Where too many wait in all, the last of the longest queue goes, so that a new key finds room.
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

  /** Does the work when its turn has come. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const place = await this.enter(key);
    try {
      return await work();
    } finally {
      place.release();
    }
  }

  /** Resolves when the turn has come, with the place among those that run; rejects where too many wait. */
  enter(key: string): Promise<Reservation> {
    return new Promise((start, refuse) => {
      if (this.mayRun(key)) return start(this.start(key));
      this.makeRoom(key);
      this.waiting.push(key, { start, refuse });
    });
  }

  /** Refuses all that wait. */
  clear(error: Error): void {
    for (let waiter = this.waiting.shift(); waiter !== undefined; waiter = this.waiting.shift())
      waiter.refuse(error);
  }

  private mayRun(key: string): boolean {
    const { running, runningOfKey } = this.limits;
    return this.count < running && (this.running.get(key) ?? 0) < runningOfKey;
  }

  private makeRoom(key: string): void {
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
    // Where there was room for other keys, none of them waits.
    const wasFull = this.count === this.limits.running;
    const left = this.running.get(key)! - 1;
    this.count -= 1;
    if (left > 0) this.running.set(key, left);
    else this.running.delete(key);
    const next = wasFull ? this.waiting.next((other) => this.mayRun(other)) : key;
    if (next !== undefined) this.waiting.shift(next)?.start(this.start(next));
  }
}
