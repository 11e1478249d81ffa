import type { ClientName, ClientRecord } from '../storage/records/clients.js';

/** A client of a user on any node, as it last announced itself. */
export interface KnownClient
  extends ClientName, Pick<ClientRecord, 'name' | 'roots' | 'tools' | 'connectedAt'> {
  /** When it left or its lease was last renewed; null: it is connected. */
  leftAt: number | null;
}

/** The presence of a client at `now` (epoch ms); it has left if its node stopped renewing the lease. */
export function knownClient(
  { workspaceId, userId, clientId, name, roots, tools, connectedAt, leftAt, until }: ClientRecord,
  now: number,
): KnownClient {
  const client = { workspaceId, userId, clientId, name, roots, tools, connectedAt };
  return { ...client, leftAt: leftAt ?? (until <= now ? until : null) };
}
