import { availableParallelism } from 'node:os';
import { Injectable } from '@nestjs/common';
import { Config } from '../config/config.js';
import { DomainError } from '../common/domain-error.js';
import { widestOf } from '../common/http/client-address.js';
import type { Excess } from '../limits/budget.js';
import { FairQueue } from '../limits/fair-queue.js';

/** Parallel hashes: each takes a core, which others need too. */
const AT_ONCE = Math.max(1, Math.floor(availableParallelism() / 2));
/** Waiting passwords, in total and per address: some seconds of work. */
const MAX_WAITING = 200;
const MAX_WAITING_OF_ADDRESS = 50;
const RETRY_AFTER_SECONDS = 5;

/** Hashing a password takes 0.1 s of a core and 32 MiB on purpose. Few run at once, and addresses take turns. */
@Injectable()
export class PasswordQueue {
  private readonly queue: FairQueue;

  constructor({ rateLimit }: Config) {
    const waitingOfKey = rateLimit === null ? Infinity : MAX_WAITING_OF_ADDRESS;
    this.queue = new FairQueue({ running: AT_ONCE, waiting: MAX_WAITING, waitingOfKey, refuse: tooMany });
  }

  /** Runs the work when its turn comes; RATE_LIMITED or UNAVAILABLE if too many passwords wait. */
  run<T>(address: string, work: () => Promise<T>): Promise<T> {
    return this.queue.run(widestOf(address), work);
  }
}

function tooMany(excess: Excess): DomainError {
  const extras = { retryAfterSeconds: RETRY_AFTER_SECONDS };
  return excess === 'owner'
    ? new DomainError('RATE_LIMITED', 'Too many passwords of this address are being checked', extras)
    : new DomainError('UNAVAILABLE', 'Too many passwords are being checked; try again', extras);
}
