import { BoundedMap } from '../common/bounded-map.js';
import type { Turn } from '../storage/ports/turn.js';

/** Sessions remembered at most; for one that was forgotten its turns know enough. */
const MAX_SESSIONS = 10_000;

/**
 * Which client a session uses, so that its next calls go to the same editor. A turn knows what was true at its
 * acceptance, on whatever node; this remembers only what has become of the session since.
 */
export class SessionClients {
  private readonly last = new BoundedMap<string, { clientId: string; at: number }>(MAX_SESSIONS);

  /** A call of the session goes to this client at `at` (epoch ms). */
  used(sessionId: string, clientId: string, at: number): void {
    this.last.set(sessionId, { clientId, at });
  }

  /** The client that a call of this turn should go to; null where the session has used none. */
  preferred({ sessionId, acceptedAt, lastClientId }: Turn): string | null {
    const since = this.last.get(sessionId);
    return since !== undefined && since.at >= acceptedAt ? since.clientId : lastClientId;
  }
}
