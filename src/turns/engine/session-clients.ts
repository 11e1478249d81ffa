import { LRUCache } from 'lru-cache';
import type { ConnectedClient } from '../../clients/connected-clients.js';
import type { SessionUse, Turn } from '../../storage/ports/turn.js';

/** Sessions remembered at most; for one that was forgotten its turns know enough. */
const MAX_SESSIONS = 10_000;

/** What has become of a session since its turns were accepted. */
interface Use {
  clientId: string;
  at: number;
  /** The folder that it began with, as `Turn` has it. */
  folder: readonly string[] | null;
  /** The call whose claim says so and is not committed yet; null once one is. */
  reservedFor: string | null;
}

/**
 * Which client a session uses, so that its next calls go to the same editor, and which folder it began with. A turn
 * knows what was true at its acceptance, on whatever node; this remembers only what has become of the session since: of
 * several turns that were accepted at once, the first claim speaks for all of them.
 */
export class SessionClients {
  private readonly uses = new LRUCache<string, Use>({ max: MAX_SESSIONS });

  /** A call of the session is to go to this client at `at` (epoch ms). Gives the folder that the session began with. */
  reserve(turn: Turn, callId: string, client: ConnectedClient, at: number): readonly string[] {
    const known = this.folderOf(turn);
    const folder = known ?? client.folder;
    const reservedFor = known === null ? callId : (this.uses.get(turn.sessionId)?.reservedFor ?? null);
    this.uses.set(turn.sessionId, { clientId: client.key.clientId, at, folder, reservedFor });
    return folder;
  }

  /** A claim came to nothing. The folder that it alone spoke for is not the session's. */
  giveBack({ sessionId }: Turn, callId: string): void {
    if (this.uses.get(sessionId)?.reservedFor === callId) this.uses.delete(sessionId);
  }

  /** A call of the turn is with this client: that is committed. */
  used({ sessionId, folder }: Turn, clientId: string, at: number): void {
    this.uses.set(sessionId, { clientId, at, folder, reservedFor: null });
  }

  /** The store's word on the turn's session, for a turn that this node has not accepted; nothing where more is known. */
  recall({ sessionId, acceptedAt: at }: Turn, { lastClientId: clientId, folder }: SessionUse): void {
    if (clientId === null || this.uses.get(sessionId) !== undefined) return;
    this.uses.set(sessionId, { clientId, at, folder, reservedFor: null });
  }

  /** The client that a call of this turn should go to; null where the session has used none. */
  preferred({ sessionId, acceptedAt, lastClientId }: Turn): string | null {
    const since = this.uses.get(sessionId);
    // A turn that was accepted while the first claim was being written knows no client yet.
    const isNewer = since !== undefined && (since.at >= acceptedAt || lastClientId === null);
    return isNewer ? since.clientId : lastClientId;
  }

  /** The folder that the turn's session began with; null where it has begun with none yet. */
  folderOf({ sessionId, folder }: Turn): readonly string[] | null {
    return folder ?? this.uses.get(sessionId)?.folder ?? null;
  }
}
