import { Injectable } from '@nestjs/common';
import { DomainError } from '../common/domain-error.js';
import { yieldIfBusy } from '../common/yield-if-busy.js';
import { Config } from '../config/config.js';
import { FairQueue } from '../limits/fair-queue.js';
import type { Reservation } from '../limits/reservation.js';
import { INLINE_BYTES } from './job.js';

const RETRY_AFTER_SECONDS = 1;

/**
 * Searches take seconds, so work on single texts and on sessions does not wait for them. Large bodies have their own
 * queue, since their requests may wait in one of the others.
 */
export type JobKind = 'texts' | 'searches' | 'contexts' | 'bodies';

/**
 * Queues heavy work: per user and kind one job runs at a time, and queued ones hold no memory. A hundred calls at
 * once delay other users no more than one does.
 */
@Injectable()
export class UserJobs {
  private readonly queue: FairQueue;

  constructor({ maxUserWaitingJobs }: Config) {
    this.queue = new FairQueue({ runningOfKey: 1, waitingOfKey: maxUserWaitingJobs, refuse: tooMany });
  }

  /**
   * Runs the work after the user's earlier work of the kind. Nested work must not be queued again.
   * @throws DomainError RATE_LIMITED if too much of the user's work is queued.
   */
  async run<T>(userId: string, work: () => Promise<T>, kind: JobKind = 'texts'): Promise<T> {
    const slot = await this.enter(userId, kind);
    try {
      return await work();
    } finally {
      slot.release();
    }
  }

  /** Queues work on large inputs; small ones run at once. */
  runOn<T>(bytes: number, userId: string, work: () => Promise<T>): Promise<T> {
    return bytes > INLINE_BYTES ? this.run(userId, work) : work();
  }

  /** Resolves when it is the user's turn, with the slot to release. */
  async enter(userId: string, kind: JobKind): Promise<Reservation> {
    const slot = await this.queue.enter(`${kind} of ${userId}`);
    // Otherwise short jobs would run one after the other within one turn of the event loop.
    await yieldIfBusy();
    return slot;
  }
}

function tooMany(): DomainError {
  return new DomainError('RATE_LIMITED', 'Too much of your work waits already; try again later', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
