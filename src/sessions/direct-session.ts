import { sha256 } from '@patchbay/protocol/hash';
import type { Membership } from '../storage/ports/turn.js';
import type { SessionRecord } from '../storage/records/sessions.js';

/**
 * Id of the session that is kept for a user's direct calls which name none: a UUIDv8 that follows from whose it is, so
 * that every node and every process finds the same one.
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

/** Whether it is kept for direct calls, rather than one that somebody has begun. */
export function isForDirectCalls(session: Pick<SessionRecord, 'id' | 'workspaceId' | 'userId'>): boolean {
  return session.id === directSessionId(session);
}
