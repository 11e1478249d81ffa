import type { Membership, TurnRef } from '../storage/ports/turn.js';

/** A turn's name as the key of a map. */
export function turnKey({ workspaceId, sessionId, turnId }: TurnRef): string {
  return `${workspaceId}/${sessionId}/${turnId}`;
}

/** A user in a workspace as the key of a map. */
export function userKey({ workspaceId, userId }: Membership): string {
  return `${workspaceId}/${userId}`;
}
