import { Injectable } from '@nestjs/common';
import { tooManyRequests } from '../common/rate-limit.guard.js';
import { RateWindows } from '../common/rate-windows.js';

const LIMIT = 10;
const WINDOW_MS = 15 * 60_000;

/**
 * Bounds wrong passwords for an email. Only failures count, so that right ones may come as many at once as they like;
 * but no more are looked at side by side than could all be wrong without exceeding the limit. The others wait.
 */
@Injectable()
export class FailedLogins {
  private readonly running = new Map<string, Set<Promise<void>>>();

  constructor(private readonly windows: RateWindows) {}

  /** What `check` finds, null for a wrong password; RATE_LIMITED where there were too many of those. */
  async attempt<T>(email: string, check: () => Promise<T | null>): Promise<T | null> {
    const key = `failed-logins:${email}`;
    for (let others = this.inTheWay(key); others !== null; others = this.inTheWay(key)) {
      await Promise.race(others);
    }
    const outcome = check().then((found) => this.count(key, found));
    const ended: Promise<void> = outcome.then(
      () => this.leave(key, ended),
      () => this.leave(key, ended),
    );
    this.running.set(key, (this.running.get(key) ?? new Set()).add(ended));
    return outcome;
  }

  /** The attempts of which one has to end before another begins; null where there is room for one more failure. */
  private inTheWay(key: string): Set<Promise<void>> | null {
    const failures = this.windows.hits(key);
    if (failures >= LIMIT) throw tooManyRequests(this.windows.secondsLeft(key));
    const running = this.running.get(key);
    return running !== undefined && failures + running.size >= LIMIT ? running : null;
  }

  private count<T>(key: string, found: T | null): T | null {
    if (found === null) this.windows.hit(key, WINDOW_MS, LIMIT);
    else this.windows.clear(key);
    return found;
  }

  private leave(key: string, attempt: Promise<void>): void {
    const running = this.running.get(key);
    running?.delete(attempt);
    if (running?.size === 0) this.running.delete(key);
  }
}
