import { Injectable } from '@nestjs/common';
import { DomainError } from '../common/domain-error.js';
import { Budget, type ByteReservation } from '../limits/budget.js';
import { Config } from '../config/config.js';
import type { Reservation } from '../limits/reservation.js';

/** Up to this size a body is always read, so that large bodies never block small ones. */
const SMALL_BYTES = 64 * 1024;
const RETRY_AFTER_SECONDS = 2;

/** Budgets the bytes of bodies that are being received or held, in total and per owner. */
@Injectable()
export class Receiving {
  private readonly budget: Budget;

  constructor({ maxReceivingBytes }: Config) {
    this.budget = new Budget({ bytes: maxReceivingBytes, smallBytes: SMALL_BYTES });
  }

  /** Bytes that all bodies hold. */
  get held(): number {
    return this.budget.held;
  }

  /** Opens a reception for one body of an owner; release it with the bytes. */
  open(owner: string): Reception {
    return new Reception(this.budget.open(owner));
  }
}

/** The reservation of one body. */
export class Reception {
  private slot: Reservation | null = null;

  constructor(private readonly bytes: ByteReservation) {}

  /** Reserves more bytes; returns RATE_LIMITED if they do not fit now. */
  reserve(bytes: number): DomainError | null {
    const excess = this.bytes.resize(this.bytes.bytes + bytes);
    if (excess === null) return null;
    const message =
      excess === 'owner' ? 'You are sending too much at once' : 'The server is receiving too much at once';
    return new DomainError('RATE_LIMITED', `${message}; try again in a moment`, {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }

  /** Also holds a slot in a queue until release. */
  hold(slot: Reservation): void {
    this.slot = slot;
  }

  /** Releases everything; idempotent. */
  release(): void {
    this.slot?.release();
    this.bytes.release();
  }
}
