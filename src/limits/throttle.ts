import { tooManyRequests } from './rate-limits.js';

/** Waiters of one key at once; the next is told to come back. */
const MAX_WAITING = 30;

/** Lets one go on each `paceMs`, per key: first in, first out. */
export class Throttle {
  /** Who waits, by key; a key is there until `paceMs` after the last one has gone on. */
  private readonly waiting = new Map<string, (() => void)[]>();

  constructor(private readonly paceMs: number) {}

  /** Resolves when it is the caller's turn; RATE_LIMITED where too many wait. */
  async enter(key: string): Promise<void> {
    const waiting = this.waiting.get(key);
    if (waiting === undefined) return this.pass(key, []);
    if (waiting.length >= MAX_WAITING) throw tooManyRequests(Math.ceil((MAX_WAITING * this.paceMs) / 1000));
    await new Promise<void>((resolve) => waiting.push(resolve));
  }

  private pass(key: string, waiting: (() => void)[]): void {
    this.waiting.set(key, waiting);
    setTimeout(() => {
      const next = waiting.shift();
      if (next === undefined) return void this.waiting.delete(key);
      this.pass(key, waiting);
      next();
    }, this.paceMs).unref();
  }
}
