import type { ClientName, ClientRecord } from '../storage/records/clients.js';

/** A client of a user, on whatever node: what it announced last. */
export interface KnownClient extends ClientName, Pick<ClientRecord, 'name' | 'roots' | 'connectedAt'> {
  /** When it left, or was last believed connected; null: it is connected. */
  leftAt: number | null;
}

/** The client as it is to be believed at `now` (epoch ms): one that its node says nothing of any more has left. */
export function knownClient(
  { workspaceId, userId, clientId, name, roots, connectedAt, leftAt, until }: ClientRecord,
  now: number,
): KnownClient {
  const client = { workspaceId, userId, clientId, name, roots, connectedAt };
  return { ...client, leftAt: leftAt ?? (until <= now ? until : null) };
}
