import type { Membership, TurnRef } from '../storage/ports/turn.js';

/** The map key of a turn. */
export function turnKey({ workspaceId, sessionId, turnId }: TurnRef): string {
  return `${workspaceId}/${sessionId}/${turnId}`;
}

/** The map key of a user in a workspace. */
export function userKey({ workspaceId, userId }: Membership): string {
  return `${workspaceId}/${userId}`;
}
