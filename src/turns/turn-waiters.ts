import { Injectable } from '@nestjs/common';
import { Lifecycle } from '../common/lifecycle.js';
import { OpenTurns } from './open-turns.js';
import type { TurnRef } from './turn.js';

/** Requests that wait for a turn to end. */
@Injectable()
export class TurnWaiters {
  private readonly waiting = new Map<string, Set<() => void>>();

  constructor(
    turns: OpenTurns,
    private readonly lifecycle: Lifecycle,
  ) {
    turns.committed$.subscribe(({ after }) => {
      if (after.status !== 'open') this.waiting.get(key(after))?.forEach((wake) => wake());
    });
    lifecycle.stopping.addEventListener('abort', () => {
      for (const waiters of this.waiting.values()) waiters.forEach((wake) => wake());
    });
  }

  /** Resolves when the turn has ended, when the time is up, or when the server stops: look what it was. */
  ended(ref: TurnRef, waitMs: number): Promise<void> {
    if (this.lifecycle.stopping.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const waiters = this.waiting.get(key(ref)) ?? new Set();
      const wake = (): void => {
        clearTimeout(timer);
        waiters.delete(wake);
        if (waiters.size === 0) this.waiting.delete(key(ref));
        resolve();
      };
      const timer = setTimeout(wake, waitMs);
      this.waiting.set(key(ref), waiters.add(wake));
    });
  }
}

function key({ workspaceId, sessionId, turnId }: TurnRef): string {
  return `${workspaceId}/${sessionId}/${turnId}`;
}
