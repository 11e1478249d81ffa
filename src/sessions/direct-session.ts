import { sha256 } from '@patchbay/protocol/hash';
import type { Membership } from '../storage/ports/turn.js';
import type { SessionRecord } from '../storage/records/sessions.js';

/**
 * Id of a user's session for direct calls without a session: a UUIDv8 derived from workspace and user, equal on every
 * node.
 */
export function directSessionId({ workspaceId, userId }: Membership): string {
  const hex = sha256(`${workspaceId}/${userId}/direct`);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `a${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}

/** Whether the session is the one for direct calls. */
export function isForDirectCalls(session: Pick<SessionRecord, 'id' | 'workspaceId' | 'userId'>): boolean {
  return session.id === directSessionId(session);
}
