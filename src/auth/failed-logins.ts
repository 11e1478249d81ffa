import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { networksOf } from '../common/http/client-address.js';
import { Budget } from '../limits/budget.js';
import { tooManyRequests } from '../limits/rate-limits.js';
import { RateWindows } from '../limits/rate-windows.js';
import { Throttle } from '../limits/throttle.js';

const WINDOW_MS = 15 * 60_000;
/** Wrong passwords in that time: for an account from one address; for it from all that it does not know. */
const OF_BOTH = 10;
const OF_ACCOUNT = 100;
/** So many from an address, and the next are looked at one a second: somebody else there may have the right one. */
const OF_ADDRESS = 100;
const PACE_MS = 1_000;
/** Attempts that wait for others of the same account and address. */
const MAX_WAITING = 50;
/** Accounts with an address from which their owner came lately. */
const MAX_KNOWN = 50_000;

interface Bound {
  key: string;
  limit: number;
}

/** Attempts that are being looked at. */
interface Running {
  count: number;
  /** When the next of them ends: one promise for all who wait. */
  ends: Promise<void>;
  tellEnd: () => void;
}

/** What an attempt counts for where its password is wrong. */
interface Attempt {
  both: string;
  /** Where one of these is reached, it is refused. */
  strict: Bound[];
  /** Where one of these is reached, it waits. */
  crowds: Bound[];
}

/**
 * Bounds wrong passwords by account and address together, so that a stranger who guesses keeps nobody else out. Who guesses
 * from many addresses is bounded for the account too, and who guesses for many accounts is slowed down with all others of
 * the address; where the owner of the account has been, both count for nothing.
 * Only failures count, so that right ones may come as many at once as they like; but no more are looked at side by side
 * than could all be wrong without exceeding a limit. The others wait.
 */
@Injectable()
export class FailedLogins {
  /** What is being looked at, by the keys of its bounds. */
  private readonly running = new Map<string, Running>();
  private readonly waiting = new Budget({ ofOwner: MAX_WAITING });
  private readonly known = new LRUCache<string, true>({ max: MAX_KNOWN });
  private readonly throttle = new Throttle(PACE_MS);
  /** Those who wait in one of them, an account of an address once. */
  private readonly inLine = new Set<string>();

  constructor(private readonly windows: RateWindows) {}

  /** What `check` finds, null for a wrong password; RATE_LIMITED where there were too many of those. */
  async attempt<T>(email: string, address: string, check: () => Promise<T | null>): Promise<T | null> {
    const attempt = this.attemptOf(email, address);
    return this.inTurn(attempt, () => {
      const bounds = [...attempt.strict, ...attempt.crowds];
      const outcome = check().then((found) => {
        if (found === null) this.failed(attempt, bounds);
        else this.came(email, address);
        return found;
      });
      this.join(bounds, outcome);
      return outcome;
    });
  }

  /** The owner of the account has come from this address, with its password or a token. */
  came(email: string, address: string): void {
    const both = keyOf(address, email);
    this.known.set(both, true);
    this.windows.clear(both);
  }

  private attemptOf(email: string, address: string): Attempt {
    const networks = networksOf(address);
    const both = keyOf(address, email);
    const strict = networks.map(({ key, times }) => ({ key: keyOf(key, email), limit: OF_BOTH * times }));
    // Where its owner has been, guesses of others count for nothing.
    if (this.known.get(both) !== undefined) return { both, strict, crowds: [] };
    strict.push({ key: `failed-logins-account:${email}`, limit: OF_ACCOUNT });
    const crowds = networks.map(({ key, times }) => ({
      ...{ key: `failed-logins-address:${key}`, limit: OF_ADDRESS * times },
    }));
    return { both, strict, crowds };
  }

  /** Starts the attempt once it may be looked at: between the look and what follows from it nobody else may come. */
  private async inTurn<T>({ both, strict, crowds }: Attempt, start: () => Promise<T>): Promise<T> {
    const passed = new Set<string>();
    for (;;) {
      const others = this.inTheWay([...strict, ...crowds.filter((bound) => !this.isReached(bound))]);
      const crowd = crowds.find((bound) => this.isReached(bound) && !passed.has(bound.key));
      if (others !== null) await this.untilOneEnds(both, others);
      else if (crowd === undefined) return start();
      else {
        await this.waitInLine(both, crowd.key);
        passed.add(crowd.key);
      }
    }
  }

  private async waitInLine(both: string, line: string): Promise<void> {
    const secondsLeft = this.windows.secondsLeft(laterOf(both));
    if (secondsLeft > 0) throw tooManyRequests(secondsLeft);
    if (this.inLine.has(both)) throw tooManyRequests(1);
    this.inLine.add(both);
    await this.throttle.enter(line).finally(() => this.inLine.delete(both));
  }

  private isReached({ key, limit }: Bound): boolean {
    return this.windows.hits(key) >= limit;
  }

  private async untilOneEnds(both: string, others: Running): Promise<void> {
    const slot = this.waiting.open(both);
    if (slot.resize(1) !== null) throw tooManyRequests(1);
    await others.ends;
    slot.release();
  }

  /** The attempts of which one has to end before another begins; null where there is room for one more failure. */
  private inTheWay(bounds: readonly Bound[]): Running | null {
    for (const bound of bounds)
      if (this.isReached(bound)) throw tooManyRequests(this.windows.secondsLeft(bound.key));
    for (const { key, limit } of bounds) {
      const running = this.running.get(key);
      if (running !== undefined && this.windows.hits(key) + running.count >= limit) return running;
    }
    return null;
  }

  private failed({ both, crowds }: Attempt, bounds: readonly Bound[]): void {
    for (const { key, limit } of bounds) this.windows.hit(key, WINDOW_MS, limit);
    if (!crowds.some((bound) => this.isReached(bound))) return;
    // Each failure there costs twice the time of the one before: a mistake some seconds, a guesser their place in the line.
    this.windows.hit(laterOf(both), 1_000 * 2 ** this.windows.hits(both), 1);
  }

  private join(bounds: readonly Bound[], outcome: Promise<unknown>): void {
    for (const { key } of bounds) {
      const running = this.running.get(key) ?? { count: 0, ...nextEnd() };
      running.count += 1;
      this.running.set(key, running);
    }
    const leave = (): void => bounds.forEach(({ key }) => this.leave(key));
    outcome.then(leave, leave);
  }

  private leave(key: string): void {
    const running = this.running.get(key)!;
    running.count -= 1;
    if (running.count === 0) this.running.delete(key);
    running.tellEnd();
    Object.assign(running, nextEnd());
  }
}

function keyOf(address: string, email: string): string {
  return `failed-logins:${JSON.stringify([address, email])}`;
}

/** Names the time until the next attempt of an account at a crowded address. */
function laterOf(both: string): string {
  return `later:${both}`;
}

function nextEnd(): Pick<Running, 'ends' | 'tellEnd'> {
  let tellEnd = (): void => undefined;
  const ends = new Promise<void>((resolve) => (tellEnd = resolve));
  return { ends, tellEnd };
}
