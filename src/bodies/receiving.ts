import { Injectable } from '@nestjs/common';
import { DomainError } from '../common/domain-error.js';
import { Budget, type ByteReservation } from '../limits/budget.js';
import { Config } from '../config/config.js';
import type { Reservation } from '../limits/reservation.js';

/** So much of a body is read however much else is coming, so that large bodies never shut small ones out. */
const SMALL_BYTES = 64 * 1024;
const RETRY_AFTER_SECONDS = 2;

/** The bytes of bodies that are being received or held, of everybody together and of each owner. */
@Injectable()
export class Receiving {
  private readonly budget: Budget;

  constructor({ maxReceivingBytes }: Config) {
    this.budget = new Budget({ bytes: maxReceivingBytes, smallBytes: SMALL_BYTES });
  }

  /** Bytes that bodies hold, of everybody. */
  get held(): number {
    return this.budget.held;
  }

  /** A place for one body of an owner; release it with the bytes. */
  open(owner: string): Reception {
    return new Reception(this.budget.open(owner));
  }
}

/** What one body holds of the bytes of all. */
export class Reception {
  private place: Reservation | null = null;

  constructor(private readonly bytes: ByteReservation) {}

  /** Takes so much more, unless that is not to be had now: then RATE_LIMITED. */
  take(bytes: number): DomainError | null {
    const excess = this.bytes.resize(this.bytes.bytes + bytes);
    if (excess === null) return null;
    const message =
      excess === 'owner' ? 'You are sending too much at once' : 'The server is receiving too much at once';
    return new DomainError('RATE_LIMITED', `${message}; try again in a moment`, {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }

  /** Holds a place in a queue, too. */
  hold(place: Reservation): void {
    this.place = place;
  }

  /** Gives all of it back; may be called again. */
  release(): void {
    this.place?.release();
    this.bytes.release();
  }
}
