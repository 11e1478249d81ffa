import { rejectionOf } from './approver.js';

/** Lets those who name the same key in, one after the other, in the order in which they came. */
export class InOrder {
  private readonly last = new Map<string, Promise<unknown>>();

  /** Runs `work` when all before it have ended; rejects with the signal's reason if that comes first. */
  async run<T>(key: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const before = this.last.get(key) ?? Promise.resolve();
    const mine = Promise.race([before, rejectionOf(signal)]).then(work);
    // Whoever gives up in the queue does not let the next one pass those before it.
    const done = Promise.allSettled([before, mine]);
    this.last.set(key, done);
    try {
      return await mine;
    } finally {
      if (this.last.get(key) === done) this.last.delete(key);
    }
  }
}
