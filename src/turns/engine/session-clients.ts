import { LRUCache } from 'lru-cache';
import type { ConnectedClient } from '../../clients/connected-clients.js';
import type { SessionUse, Turn } from '../../storage/ports/turn.js';

/** Remembered sessions; for others the turns themselves know enough. */
const MAX_SESSIONS = 10_000;

/** Use of a session since its turns were accepted. */
interface Use {
  clientId: string;
  at: number;
  /** The folder that it began with, as in `Turn`. */
  folder: readonly string[] | null;
  /** The call with the uncommitted claim that set this; null after a commit. */
  reservedFor: string | null;
}

/**
 * Remembers which client a session uses, so that its calls go to the same editor, and its first folder. A turn only
 * knows the state at its acceptance. Of several turns accepted at once, the first claim decides.
 */
export class SessionClients {
  private readonly uses = new LRUCache<string, Use>({ max: MAX_SESSIONS });

  /** Records that a call goes to this client at `at` (epoch ms). Returns the session's first folder. */
  reserve(turn: Turn, callId: string, client: ConnectedClient, at: number): readonly string[] {
    const known = this.folderOf(turn);
    const folder = known ?? client.folder;
    const reservedFor = known === null ? callId : (this.uses.get(turn.sessionId)?.reservedFor ?? null);
    this.uses.set(turn.sessionId, { clientId: client.key.clientId, at, folder, reservedFor });
    return folder;
  }

  /** Undoes a failed claim, including a folder that only it had set. */
  release({ sessionId }: Turn, callId: string): void {
    if (this.uses.get(sessionId)?.reservedFor === callId) this.uses.delete(sessionId);
  }

  /** Records a committed claim of the client. */
  used({ sessionId, folder }: Turn, clientId: string, at: number): void {
    this.uses.set(sessionId, { clientId, at, folder, reservedFor: null });
  }

  /** Takes the session's use from the store for a turn accepted elsewhere; keeps newer knowledge. */
  recall({ sessionId, acceptedAt: at }: Turn, { lastClientId: clientId, folder }: SessionUse): void {
    if (clientId === null || this.uses.get(sessionId) !== undefined) return;
    this.uses.set(sessionId, { clientId, at, folder, reservedFor: null });
  }

  /** The client that a call of this turn should go to; null if the session has used none. */
  preferred({ sessionId, acceptedAt, lastClientId }: Turn): string | null {
    const since = this.uses.get(sessionId);
    // A turn accepted while the first claim was written does not know a client yet.
    const isNewer = since !== undefined && (since.at >= acceptedAt || lastClientId === null);
    return isNewer ? since.clientId : lastClientId;
  }

  /** The session's first folder; null if it has none yet. */
  folderOf({ sessionId, folder }: Turn): readonly string[] | null {
    return folder ?? this.uses.get(sessionId)?.folder ?? null;
  }
}
