import { Injectable } from '@nestjs/common';
import { DomainError } from '../common/domain-error.js';
import { onResponseClosed, type ResponseHandle } from '../common/http/response-closed.js';
import { Budget } from './budget.js';
import { Config } from '../config/config.js';
import type { Turn } from '../storage/ports/turn.js';

const RETRY_AFTER_SECONDS = 1;

type AnsweredTurn = Pick<Turn, 'userId' | 'sessionId' | 'turnId'>;

/** Bounds the memory that one user's large responses hold until they are read. */
@Injectable()
export class AnswersInFlight {
  private readonly budget: Budget;

  constructor({ maxUserAnswerBytes }: Config) {
    this.budget = new Budget({ ofOwner: maxUserAnswerBytes });
  }

  /** Bytes of a user's unread responses. */
  held(userId: string): number {
    return this.budget.heldBy(userId);
  }

  /**
   * Counts the response of a turn until it is sent; RATE_LIMITED if the user's other responses use up the limit. A
   * single response always fits, and so does one without results or large arguments.
   */
  reserve({ userId, sessionId, turnId }: AnsweredTurn, bytes: number, response: ResponseHandle): void {
    if (bytes === 0) return;
    const reservation = this.budget.open(userId);
    if (reservation.resize(bytes) !== null) {
      // Callers of a tool or a revert do not know the turn yet, and would repeat the operation.
      const message =
        'You have too many large unread answers; read those first. The turn was accepted, so do not post it again: ' +
        `GET turn ${turnId} of session ${sessionId} in a moment.`;
      throw new DomainError('RATE_LIMITED', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
    onResponseClosed(response, () => reservation.release());
  }
}
