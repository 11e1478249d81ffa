import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Stopwatch } from '../common/clock.js';

interface Window {
  hits: number;
  /** On the stopwatch. */
  endsAt: number;
}

/** Maximum number of keys; beyond it the least recently hit keys are dropped. */
const MAX_WINDOWS = 200_000;

/** Counts hits in fixed windows of this process, one small record per key. */
@Injectable()
export class RateWindows {
  private readonly windows = new LRUCache<string, Window>({ max: MAX_WINDOWS });

  constructor(private readonly stopwatch: Stopwatch) {}

  /** Counts one hit; returns null, or beyond the limit the seconds until the window ends. */
  hit(key: string, windowMs: number, limit: number): number | null {
    let window = this.open(key);
    if (window === undefined) {
      window = { hits: 0, endsAt: this.stopwatch.elapsed() + windowMs };
      this.windows.set(key, window);
    }
    window.hits += 1;
    return window.hits > limit ? this.secondsLeft(key) : null;
  }

  /** Hits of the key in its current window. */
  hits(key: string): number {
    return this.open(key)?.hits ?? 0;
  }

  /** Whole seconds until the window of the key ends, 0 if it has none. */
  secondsLeft(key: string): number {
    const window = this.open(key);
    return window === undefined ? 0 : Math.ceil((window.endsAt - this.stopwatch.elapsed()) / 1000);
  }

  clear(key: string): void {
    this.windows.delete(key);
  }

  private open(key: string): Window | undefined {
    const window = this.windows.get(key);
    return window !== undefined && window.endsAt > this.stopwatch.elapsed() ? window : undefined;
  }
}
