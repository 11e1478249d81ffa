import { tooManyRequests } from './rate-limits.js';

/** Maximum number of waiters per key; further ones are told to retry. */
const MAX_WAITING = 30;

/** Admits one caller per `paceMs` and key: first in, first out. */
export class Throttle {
  /** Waiters by key; a key remains until `paceMs` after its last waiter was admitted. */
  private readonly waiting = new Map<string, (() => void)[]>();

  constructor(private readonly paceMs: number) {}

  /** Resolves when it is the caller's turn; RATE_LIMITED if too many wait. */
  async enter(key: string): Promise<void> {
    const waiting = this.waiting.get(key);
    if (waiting === undefined) return this.admit(key, []);
    if (waiting.length >= MAX_WAITING) throw tooManyRequests(Math.ceil((MAX_WAITING * this.paceMs) / 1000));
    await new Promise<void>((resolve) => waiting.push(resolve));
  }

  private admit(key: string, waiting: (() => void)[]): void {
    this.waiting.set(key, waiting);
    setTimeout(() => {
      const next = waiting.shift();
      if (next === undefined) return void this.waiting.delete(key);
      this.admit(key, waiting);
      next();
    }, this.paceMs).unref();
  }
}
