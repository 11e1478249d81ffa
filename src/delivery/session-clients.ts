import { Injectable } from '@nestjs/common';
import { BoundedMap } from '../common/bounded-map.js';
import { TurnStore } from '../storage/ports/turns.store.js';

/** Sessions remembered at most; one that was forgotten is read from the store again. */
const MAX_SESSIONS = 10_000;

/** Which client a session used last, so that its next calls go to the same editor. */
@Injectable()
export class SessionClients {
  private readonly last = new BoundedMap<string, string | null>(MAX_SESSIONS);

  constructor(private readonly store: TurnStore) {}

  /** Makes sure that `lastUsed` knows of what happened before this process began. */
  async recall(workspaceId: string, sessionId: string): Promise<void> {
    if (this.last.get(sessionId) !== undefined) return;
    this.last.set(sessionId, await this.store.lastClientOf(workspaceId, sessionId));
  }

  lastUsed(sessionId: string): string | null {
    return this.last.get(sessionId) ?? null;
  }

  used(sessionId: string, clientId: string): void {
    this.last.set(sessionId, clientId);
  }
}
