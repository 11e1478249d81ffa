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
    let window = this.open(key);
    if (window === undefined) {
      window = { hits: 0, endsAt: now + windowMs };
      this.windows.set(key, window);
    }
    window.hits += 1;
    return window.hits > limit ? this.secondsLeft(key) : null;
  }

  /** How often the key was hit in its window. */
  hits(key: string): number {
    return this.open(key)?.hits ?? 0;
  }

  /** Whole seconds until the window of the key has ended, 0 where it has none. */
  secondsLeft(key: string): number {
    const window = this.open(key);
    return window === undefined ? 0 : Math.ceil((window.endsAt - this.clock.now()) / 1000);
  }

  /** Forgets the hits of a key. */
  clear(key: string): void {
    this.windows.delete(key);
  }

  private open(key: string): Window | undefined {
    const window = this.windows.get(key);
    return window !== undefined && window.endsAt > this.clock.now() ? window : undefined;
  }

  private sweep(now: number): void {
    if (now < this.sweepAt) return;
    this.sweepAt = now + SWEEP_MS;
    for (const [key, window] of this.windows) if (window.endsAt <= now) this.windows.delete(key);
  }
}
