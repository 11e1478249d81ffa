import { Injectable } from '@nestjs/common';
import { Lifecycle } from '../common/lifecycle.js';
import { OpenTurns } from './open-turns.js';
import type { Turn, TurnRef } from '../storage/ports/turn.js';
import { turnKey } from '../common/keys.js';

/** Requests that wait for a turn to end. */
@Injectable()
export class TurnWaiters {
  private readonly waiting = new Map<string, Set<(ended: Turn | null) => void>>();

  constructor(
    turns: OpenTurns,
    private readonly lifecycle: Lifecycle,
  ) {
    turns.changes$.subscribe(({ after }) => {
      if (after.status !== 'open') this.waiting.get(turnKey(after))?.forEach((wake) => wake(after));
    });
    lifecycle.stopping.addEventListener('abort', () => {
      for (const waiters of this.waiting.values()) waiters.forEach((wake) => wake(null));
    });
  }

  /** Resolves with the turn when it has ended, with null when the time is up or the server stops. */
  ended(ref: TurnRef, waitMs: number): Promise<Turn | null> {
    if (this.lifecycle.stopping.aborted) return Promise.resolve(null);
    return new Promise((resolve) => {
      const waiters = this.waiting.get(turnKey(ref)) ?? new Set();
      const wake = (ended: Turn | null): void => {
        clearTimeout(timer);
        waiters.delete(wake);
        if (waiters.size === 0) this.waiting.delete(turnKey(ref));
        resolve(ended);
      };
      const timer = setTimeout(() => wake(null), waitMs);
      this.waiting.set(turnKey(ref), waiters.add(wake));
    });
  }
}
