import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { networksOf } from '../common/http/client-address.js';
import { Budget } from '../limits/budget.js';
import { tooManyRequests } from '../limits/rate-limits.js';
import { RateWindows } from '../limits/rate-windows.js';
import { Throttle } from '../limits/throttle.js';

const WINDOW_MS = 15 * 60_000;
/** Wrong passwords per window for an account: from one address, and from all unknown addresses. */
const MAX_PER_PAIR = 10;
const MAX_PER_ACCOUNT = 100;
/** Wrong passwords of an address before its next attempts are slowed down to one per second. */
const MAX_PER_ADDRESS = 100;
const PACE_MS = 1_000;
/** Attempts that may wait for others of the same account and address. */
const MAX_WAITING = 50;
/** Remembered pairs of an account and an address that its owner used lately. */
const MAX_KNOWN = 50_000;

interface Bound {
  key: string;
  limit: number;
}

/** Attempts that are being checked. */
interface Running {
  count: number;
  /** Resolves when the next attempt ends; shared by all waiters. */
  ends: Promise<void>;
  resolveEnd: () => void;
}

/** The limits that a wrong password counts against. */
interface Attempt {
  both: string;
  /** The attempt is refused if one of these is reached. */
  strict: Bound[];
  /** The attempt waits if one of these is reached. */
  throttled: Bound[];
}

/**
 * Limits wrong passwords per account and address, so that a guesser locks nobody else out. Guesses from many addresses
 * are limited per account; guesses for many accounts slow down their address. Addresses that the account's owner used
 * are exempt from both. Only failures count. Parallel checks never exceed the remaining failures; others wait.
 */
@Injectable()
export class FailedLogins {
  /** Running checks, by the keys of their limits. */
  private readonly running = new Map<string, Running>();
  private readonly waiting = new Budget({ ofOwner: MAX_WAITING });
  private readonly known = new LRUCache<string, true>({ max: MAX_KNOWN });
  private readonly throttle = new Throttle(PACE_MS);
  /** Queued pairs of account and address, each once. */
  private readonly queued = new Set<string>();

  constructor(private readonly windows: RateWindows) {}

  /** Returns the result of `check`, null for a wrong password; RATE_LIMITED after too many failures. */
  async attempt<T>(email: string, address: string, check: () => Promise<T | null>): Promise<T | null> {
    const attempt = this.attemptOf(email, address);
    return this.inTurn(attempt, () => {
      const bounds = [...attempt.strict, ...attempt.throttled];
      const outcome = check().then((found) => {
        if (found === null) this.failed(attempt, bounds);
        else this.recordOwner(email, address);
        return found;
      });
      this.join(bounds, outcome);
      return outcome;
    });
  }

  /** Records that the account's owner used this address, with the password or a token. */
  recordOwner(email: string, address: string): void {
    const both = keyOf(address, email);
    this.known.set(both, true);
    this.windows.clear(both);
  }

  private attemptOf(email: string, address: string): Attempt {
    const networks = networksOf(address);
    const both = keyOf(address, email);
    const strict = networks.map(({ key, times }) => ({
      key: keyOf(key, email),
      limit: MAX_PER_PAIR * times,
    }));
    // Guesses of others do not count at an address that the owner has used.
    if (this.known.get(both) !== undefined) return { both, strict, throttled: [] };
    strict.push({ key: `failed-logins-account:${email}`, limit: MAX_PER_ACCOUNT });
    const throttled = networks.map(({ key, times }) => ({
      ...{ key: `failed-logins-address:${key}`, limit: MAX_PER_ADDRESS * times },
    }));
    return { both, strict, throttled };
  }

  /** Starts the attempt when the limits allow it, with no other attempt between the check and the start. */
  private async inTurn<T>({ both, strict, throttled }: Attempt, start: () => Promise<T>): Promise<T> {
    const passed = new Set<string>();
    for (;;) {
      const others = this.blockedBy([...strict, ...throttled.filter((bound) => !this.isReached(bound))]);
      const exceeded = throttled.find((bound) => this.isReached(bound) && !passed.has(bound.key));
      if (others !== null) await this.waitForEnd(both, others);
      else if (exceeded === undefined) return start();
      else {
        await this.waitInQueue(both, exceeded.key);
        passed.add(exceeded.key);
      }
    }
  }

  private async waitInQueue(both: string, queueKey: string): Promise<void> {
    const secondsLeft = this.windows.secondsLeft(delayKey(both));
    if (secondsLeft > 0) throw tooManyRequests(secondsLeft);
    if (this.queued.has(both)) throw tooManyRequests(1);
    this.queued.add(both);
    await this.throttle.enter(queueKey).finally(() => this.queued.delete(both));
  }

  private isReached({ key, limit }: Bound): boolean {
    return this.windows.hits(key) >= limit;
  }

  private async waitForEnd(both: string, others: Running): Promise<void> {
    const slot = this.waiting.open(both);
    if (slot.resize(1) !== null) throw tooManyRequests(1);
    await others.ends;
    slot.release();
  }

  /** Running attempts of which one must end first; null if there is room for one more failure. */
  private blockedBy(bounds: readonly Bound[]): Running | null {
    for (const bound of bounds)
      if (this.isReached(bound)) throw tooManyRequests(this.windows.secondsLeft(bound.key));
    for (const { key, limit } of bounds) {
      const running = this.running.get(key);
      if (running !== undefined && this.windows.hits(key) + running.count >= limit) return running;
    }
    return null;
  }

  private failed({ both, throttled }: Attempt, bounds: readonly Bound[]): void {
    for (const { key, limit } of bounds) this.windows.hit(key, WINDOW_MS, limit);
    if (!throttled.some((bound) => this.isReached(bound))) return;
    // Each failure doubles the delay: a typo costs seconds, a guesser loses their place in the queue.
    this.windows.hit(delayKey(both), 1_000 * 2 ** this.windows.hits(both), 1);
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
    running.resolveEnd();
    Object.assign(running, nextEnd());
  }
}

function keyOf(address: string, email: string): string {
  return `failed-logins:${JSON.stringify([address, email])}`;
}

/** Key of the delay of an account at a slowed-down address. */
function delayKey(both: string): string {
  return `later:${both}`;
}

function nextEnd(): Pick<Running, 'ends' | 'resolveEnd'> {
  let resolveEnd = (): void => undefined;
  const ends = new Promise<void>((resolve) => (resolveEnd = resolve));
  return { ends, resolveEnd };
}
