import { availableParallelism } from 'node:os';
import { Injectable } from '@nestjs/common';
import { Config } from '../config/config.js';
import { DomainError } from '../common/domain-error.js';
import { widestNetworkOf } from '../common/http/client-address.js';
import type { Excess } from '../limits/budget.js';
import { FairQueue } from '../limits/fair-queue.js';

/** Hashes at once: each takes a core, which others need too. */
const AT_ONCE = Math.max(1, Math.floor(availableParallelism() / 2));
/** Passwords that wait, in all and of one address: some seconds of work. */
const MAX_WAITING = 200;
const MAX_WAITING_OF_ADDRESS = 50;
const RETRY_AFTER_SECONDS = 5;

/**
 * Hashing a password costs a tenth of a second of a core and 32 MiB, on purpose. So few are hashed at once, and the
 * addresses from which they come take turns.
 */
@Injectable()
export class PasswordQueue {
  private readonly queue: FairQueue;

  constructor({ rateLimit }: Config) {
    const waitingOfKey = rateLimit === null ? Infinity : MAX_WAITING_OF_ADDRESS;
    this.queue = new FairQueue({ running: AT_ONCE, waiting: MAX_WAITING, waitingOfKey, refuse: tooMany });
  }

  /** The result of the work, once its turn has come; RATE_LIMITED or UNAVAILABLE where too many passwords wait. */
  run<T>(address: string, work: () => Promise<T>): Promise<T> {
    return this.queue.run(widestNetworkOf(address), work);
  }
}

function tooMany(excess: Excess): DomainError {
  const extras = { retryAfterSeconds: RETRY_AFTER_SECONDS };
  return excess === 'owner'
    ? new DomainError('RATE_LIMITED', 'Too many passwords of this address are being checked', extras)
    : new DomainError('UNAVAILABLE', 'Too many passwords are being checked; try again', extras);
}
