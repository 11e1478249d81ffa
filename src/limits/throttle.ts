import { tooManyRequests } from './rate-limits.js';

/** Who waits in one line at once; the next is told to come back. */
const MAX_WAITING = 30;

/** Lines in which one may go on now and then: first come, first served. */
export class Throttle {
  /** Those who wait, by the name of their line, which is there for as long as somebody has just gone on in it. */
  private readonly lines = new Map<string, (() => void)[]>();

  /** @param paceMs from one who goes on to the next of the same line */
  constructor(private readonly paceMs: number) {}

  /** Resolves when it is the caller's turn in this line; RATE_LIMITED where too many wait in it. */
  async enter(name: string): Promise<void> {
    const line = this.lines.get(name);
    if (line === undefined) return this.open(name, []);
    if (line.length >= MAX_WAITING) throw tooManyRequests(Math.ceil((MAX_WAITING * this.paceMs) / 1000));
    await new Promise<void>((resolve) => line.push(resolve));
  }

  private open(name: string, line: (() => void)[]): void {
    this.lines.set(name, line);
    setTimeout(() => {
      const next = line.shift();
      if (next === undefined) return void this.lines.delete(name);
      this.open(name, line);
      next();
    }, this.paceMs).unref();
  }
}
