import { Injectable } from '@nestjs/common';
import { TurnStore } from '../storage/ports/turns.store.js';

/** Sessions remembered at most; one that was forgotten is read from the store again. */
const MAX_SESSIONS = 10_000;

/** Which client a session used last, so that its next calls go to the same editor. */
@Injectable()
export class SessionClients {
  private readonly last = new Map<string, string | null>();

  constructor(private readonly store: TurnStore) {}

  /** Makes sure that `lastUsed` knows of what happened before this process began. */
  async recall(workspaceId: string, sessionId: string): Promise<void> {
    if (!this.last.has(sessionId))
      this.remember(sessionId, await this.store.lastClientOf(workspaceId, sessionId));
  }

  lastUsed(sessionId: string): string | null {
    return this.last.get(sessionId) ?? null;
  }

  used(sessionId: string, clientId: string): void {
    this.remember(sessionId, clientId);
  }

  private remember(sessionId: string, clientId: string | null): void {
    this.last.delete(sessionId);
    this.last.set(sessionId, clientId);
    if (this.last.size > MAX_SESSIONS) this.last.delete(this.last.keys().next().value!);
  }
}
