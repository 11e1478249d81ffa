import { Injectable } from '@nestjs/common';
import { DomainError } from '../common/domain-error.js';
import { onResponseClosed, type ResponseHandle } from '../common/http/response-closed.js';
import { Budget } from './budget.js';
import { Config } from '../config/config.js';
import type { Turn } from '../storage/ports/turn.js';

const RETRY_AFTER_SECONDS = 1;

type AnsweredTurn = Pick<Turn, 'userId' | 'sessionId' | 'turnId'>;

/** Bounds what one user's answers hold of our memory until they were read, however slowly that is. */
@Injectable()
export class AnswersInFlight {
  private readonly budget: Budget;

  constructor({ maxUserAnswerBytes }: Config) {
    this.budget = new Budget({ ofOwner: maxUserAnswerBytes });
  }

  /** Bytes of a user's answers that were not read yet. */
  held(userId: string): number {
    return this.budget.heldBy(userId);
  }

  /**
   * Counts the answer of a turn until it was sent; RATE_LIMITED where others of its user take up the room. One alone may
   * always go, and so may one without results or large arguments.
   */
  take({ userId, sessionId, turnId }: AnsweredTurn, bytes: number, sending: ResponseHandle): void {
    if (bytes === 0) return;
    const held = this.budget.open(userId);
    if (held.resize(bytes) !== null) {
      // Who has called a tool, or undone a batch, knows no turn yet, and would do it twice.
      const message =
        'You have too many large unread answers; read those first. The turn was accepted, so do not post it again: ' +
        `GET turn ${turnId} of session ${sessionId} in a moment.`;
      throw new DomainError('RATE_LIMITED', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
    onResponseClosed(sending, () => held.release());
  }
}
