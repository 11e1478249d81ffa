import { Injectable } from '@nestjs/common';
import { isFinal } from '@patchbay/protocol';
import { Lifecycle } from '../../common/lifecycle.js';
import type { TurnChange } from './open-turns.js';
import type { Turn } from '../../storage/ports/turn.js';
import { DomainError } from '../../common/domain-error.js';
import { Config } from '../../config/config.js';
import { turnKey } from '../../common/keys.js';
import { Budget } from '../../limits/budget.js';
import { FairQueue } from '../../limits/fair-queue.js';
import type { Reservation } from '../../limits/reservation.js';
import { isServerRun } from '../state/deadlines.js';

const RETRY_AFTER_SECONDS = 5;
/** Waiters that continue per turn of the event loop. */
const WOKEN_AT_ONCE = 32;

/** The requests that wait for one turn, and the turn's last known state. */
interface Waiting {
  turn: Turn;
  readonly wakes: Set<(ended: Turn | null) => void>;
}

/** Requests that wait for a turn to end. */
@Injectable()
export class TurnWaiters {
  /** A turn may have a thousand waiters, so only a few continue per turn of the event loop. */
  private readonly queue = new FairQueue({ running: WOKEN_AT_ONCE });
  private readonly waiting = new Map<string, Waiting>();
  /** Requests that wait or are about to. */
  private readonly slots: Budget;

  constructor(
    private readonly lifecycle: Lifecycle,
    { maxUserWaiting }: Config,
  ) {
    this.slots = new Budget({ ofOwner: maxUserWaiting });
    lifecycle.stopping.addEventListener('abort', () => {
      // Server calls finish within the drain time; a client may take minutes.
      for (const { turn, wakes } of this.waiting.values())
        if (waitsForClient(turn)) wakes.forEach((wake) => wake(null));
    });
  }

  /** Part of `TurnReactions`. */
  react({ after }: TurnChange): void {
    const waiting = this.waiting.get(turnKey(after));
    if (!waiting) return;
    waiting.turn = after;
    if (after.status !== 'open') waiting.wakes.forEach((wake) => wake(after));
    else if (this.lifecycle.stopping.aborted && waitsForClient(after))
      waiting.wakes.forEach((wake) => wake(null));
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
    if (this.lifecycle.stopping.aborted && waitsForClient(turn)) return Promise.resolve(null);
    const key = turnKey(turn);
    return new Promise((resolve) => {
      const waiting = this.waiting.get(key) ?? { turn, wakes: new Set() };
      this.waiting.set(key, waiting);
      const wake = (ended: Turn | null): void => {
        clearTimeout(timer);
        waiting.wakes.delete(wake);
        if (waiting.wakes.size === 0) this.waiting.delete(key);
        void this.queue.enter(turn.userId).then((slot) => {
          setImmediate(() => slot.release());
          resolve(ended);
        });
      };
      const timer = setTimeout(() => wake(null), waitMs);
      waiting.wakes.add(wake);
    });
  }
}

/** Whether a client has to act before the turn can end. */
function waitsForClient({ calls }: Turn): boolean {
  return calls.some((call) => !isFinal(call.status) && !isServerRun(call));
}
