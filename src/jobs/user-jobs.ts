import { Injectable } from '@nestjs/common';
import { DomainError } from '../common/domain-error.js';
import { yieldIfBusy } from '../common/yield-if-busy.js';
import { Config } from '../config/config.js';
import { FairQueue } from '../limits/fair-queue.js';
import type { Reservation } from '../limits/reservation.js';
import { INLINE_BYTES } from './job.js';

const RETRY_AFTER_SECONDS = 1;

/**
 * Searches take seconds, so work on single texts and on sessions does not wait for them. Large bodies have a queue of
 * their own, since what they ask for may wait in one of the others.
 */
export type JobKind = 'texts' | 'searches' | 'contexts' | 'bodies';

/**
 * Queues work that reads much: one job of a user and kind runs at a time, and what waits holds nothing in memory. So a
 * hundred calls at once cost others no more than one.
 */
@Injectable()
export class UserJobs {
  private readonly queue: FairQueue;

  constructor({ maxUserWaitingJobs }: Config) {
    this.queue = new FairQueue({ runningOfKey: 1, waitingOfKey: maxUserWaitingJobs, refuse: tooMany });
  }

  /**
   * Does the work when the user's earlier work of the kind is done. Work that is part of it must not be queued again.
   * @throws DomainError RATE_LIMITED where too much of the user's work waits.
   */
  async run<T>(userId: string, work: () => Promise<T>, kind: JobKind = 'texts'): Promise<T> {
    const place = await this.enter(userId, kind);
    try {
      return await work();
    } finally {
      place.release();
    }
  }

  /** Queues work on so many bytes where they are many. */
  runOn<T>(bytes: number, userId: string, work: () => Promise<T>): Promise<T> {
    return bytes > INLINE_BYTES ? this.run(userId, work) : work();
  }

  /** Resolves when the user's turn has come, with the place to release. */
  async enter(userId: string, kind: JobKind): Promise<Reservation> {
    const place = await this.queue.enter(`${kind} of ${userId}`);
    // Jobs that take no time would run one after the other without a turn of the event loop between them.
    await yieldIfBusy();
    return place;
  }
}

function tooMany(): DomainError {
  return new DomainError('RATE_LIMITED', 'Too much of your work waits already; try again later', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
