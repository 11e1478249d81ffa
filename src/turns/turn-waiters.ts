import { Injectable } from '@nestjs/common';
import { Lifecycle } from '../common/lifecycle.js';
import { OpenTurns } from './open-turns.js';
import type { Turn } from '../storage/ports/turn.js';
import { DomainError } from '../common/domain-error.js';
import { Config } from '../config/config.js';
import { turnKey } from '../common/keys.js';
import { WakeLine } from '../limits/wake-line.js';

const RETRY_AFTER_SECONDS = 5;

/** Requests that wait for a turn to end. */
@Injectable()
export class TurnWaiters {
  /** Of one turn there may be a thousand. */
  private readonly line = new WakeLine();
  private readonly waiting = new Map<string, Set<(ended: Turn | null) => void>>();
  /** How many requests of each user wait, or are about to. */
  private readonly places = new Map<string, number>();

  constructor(
    turns: OpenTurns,
    private readonly lifecycle: Lifecycle,
    private readonly config: Config,
  ) {
    turns.changes$.subscribe(({ after }) => {
      if (after.status !== 'open') this.waiting.get(turnKey(after))?.forEach((wake) => wake(after));
    });
    lifecycle.stopping.addEventListener('abort', () => {
      for (const waiters of this.waiting.values()) waiters.forEach((wake) => wake(null));
    });
  }

  /** A place for a request of the user that is going to wait, until it is left; RATE_LIMITED where too many do. */
  enter(userId: string): () => void {
    const waiting = this.places.get(userId) ?? 0;
    if (waiting >= this.config.maxUserWaiting) {
      const message = `You have ${waiting} requests that wait for turns to end; let some of them end first, or send waitMs 0.`;
      throw new DomainError('RATE_LIMITED', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
    this.places.set(userId, waiting + 1);
    return () => {
      const left = this.places.get(userId)! - 1;
      if (left > 0) this.places.set(userId, left);
      else this.places.delete(userId);
    };
  }

  /** Resolves with the turn when it has ended, with null when the time is up or the server stops. */
  ended(turn: Turn, waitMs: number): Promise<Turn | null> {
    if (this.lifecycle.stopping.aborted) return Promise.resolve(null);
    const key = turnKey(turn);
    return new Promise((resolve) => {
      const waiters = this.waiting.get(key) ?? new Set();
      const wake = (ended: Turn | null): void => {
        clearTimeout(timer);
        waiters.delete(wake);
        if (waiters.size === 0) this.waiting.delete(key);
        this.line.enter(turn.userId, () => resolve(ended));
      };
      const timer = setTimeout(() => wake(null), waitMs);
      this.waiting.set(key, waiters.add(wake));
    });
  }
}
