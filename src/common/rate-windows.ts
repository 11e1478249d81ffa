import { Injectable } from '@nestjs/common';
import { Clock } from './clock.js';

interface Window {
  hits: number;
  endsAt: number;
}

const SWEEP_MS = 60_000;

/** Counts hits in fixed windows of this process, one small record a key. */
@Injectable()
export class RateWindows {
  private readonly windows = new Map<string, Window>();
  private sweepAt = 0;

  constructor(private readonly clock: Clock) {}

  /** Counts one hit; null, or where it was one too many the seconds until the window ends. */
  hit(key: string, windowMs: number, limit: number): number | null {
    const now = this.clock.now();
    this.sweep(now);
    let window = this.windows.get(key);
    if (window === undefined || window.endsAt <= now) {
      window = { hits: 0, endsAt: now + windowMs };
      this.windows.set(key, window);
    }
    window.hits += 1;
    return window.hits > limit ? Math.ceil((window.endsAt - now) / 1000) : null;
  }

  /** Forgets the hits of a key. */
  clear(key: string): void {
    this.windows.delete(key);
  }

  private sweep(now: number): void {
    if (now < this.sweepAt) return;
    this.sweepAt = now + SWEEP_MS;
    for (const [key, window] of this.windows) if (window.endsAt <= now) this.windows.delete(key);
  }
}
