import { Injectable } from '@nestjs/common';
import { Lifecycle } from '../../common/lifecycle.js';
import type { TurnChange } from './open-turns.js';
import type { Turn } from '../../storage/ports/turn.js';
import { DomainError } from '../../common/domain-error.js';
import { Config } from '../../config/config.js';
import { turnKey } from '../../common/keys.js';
import { Budget } from '../../limits/budget.js';
import { FairQueue } from '../../limits/fair-queue.js';
import type { Reservation } from '../../limits/reservation.js';

const RETRY_AFTER_SECONDS = 5;
/** Waiters that continue per turn of the event loop. */
const WOKEN_AT_ONCE = 32;

/** Requests that wait for a turn to end. */
@Injectable()
export class TurnWaiters {
  /** A turn may have a thousand waiters, so only a few continue per turn of the event loop. */
  private readonly queue = new FairQueue({ running: WOKEN_AT_ONCE });
  private readonly waiting = new Map<string, Set<(ended: Turn | null) => void>>();
  /** Requests that wait or are about to. */
  private readonly slots: Budget;

  constructor(
    private readonly lifecycle: Lifecycle,
    { maxUserWaiting }: Config,
  ) {
    this.slots = new Budget({ ofOwner: maxUserWaiting });
    lifecycle.stopping.addEventListener('abort', () => {
      for (const waiters of this.waiting.values()) waiters.forEach((wake) => wake(null));
    });
  }

  /** Part of `TurnReactions`. */
  react({ after }: TurnChange): void {
    if (after.status !== 'open') this.waiting.get(turnKey(after))?.forEach((wake) => wake(after));
  }

  /** Reserves a wait slot for a request of the user; RATE_LIMITED if too many wait. */
  enter(userId: string): Reservation {
    const slot = this.slots.open(userId);
    if (slot.resize(1) !== null) {
      const waiting = this.slots.heldBy(userId);
      const message = `You have ${waiting} requests that wait for turns to end; let some of them end first, or send waitMs 0.`;
      throw new DomainError('RATE_LIMITED', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
    return slot;
  }

  /** Resolves with the turn when it ends, with null on timeout or shutdown. */
  ended(turn: Turn, waitMs: number): Promise<Turn | null> {
    if (this.lifecycle.stopping.aborted) return Promise.resolve(null);
    const key = turnKey(turn);
    return new Promise((resolve) => {
      const waiters = this.waiting.get(key) ?? new Set();
      const wake = (ended: Turn | null): void => {
        clearTimeout(timer);
        waiters.delete(wake);
        if (waiters.size === 0) this.waiting.delete(key);
        void this.queue.enter(turn.userId).then((slot) => {
          setImmediate(() => slot.release());
          resolve(ended);
        });
      };
      const timer = setTimeout(() => wake(null), waitMs);
      this.waiting.set(key, waiters.add(wake));
    });
  }
}
