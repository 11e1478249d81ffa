import type { AuditFileEvent, Json } from '@patchbay/protocol';
import { newId } from '../common/ids.js';
import type { AuditDraft } from '../storage/ports/audit.store.js';
import type { FileSource } from '../storage/ports/files.store.js';

/** Who changes a file, and as part of what; recorded in the version and the audit trail. */
export interface ChangeOrigin {
  workspaceId: string;
  userId: string;
  source: FileSource;
  clientId: string | null;
  toolName: string | null;
  sessionId: string | null;
  conversationId: string | null;
  turnId: string | null;
  toolCallId: string | null;
  callId: string | null;
  batchId: string | null;
  filePatchId: string | null;
  /** Aborted when its call has ended; nothing is written after that. */
  signal?: AbortSignal | undefined;
}

/** A change by a user over HTTP, outside of any tool call. */
export function userChange(workspaceId: string, userId: string, source: FileSource): ChangeOrigin {
  const nowhere = { sessionId: null, conversationId: null, turnId: null, toolCallId: null, callId: null };
  const noClient = { clientId: null, toolName: null, batchId: null, filePatchId: null };
  return { workspaceId, userId, source, ...nowhere, ...noClient };
}

/** The audit event of a change: place and kind, never contents. */
export function fileEvent(
  event: AuditFileEvent,
  origin: ChangeOrigin,
  at: number,
  fields: { [name: string]: Json },
): AuditDraft {
  const { sessionId, conversationId, turnId, toolCallId, callId, userId, clientId, toolName } = origin;
  return {
    eventId: newId(),
    name: event,
    at,
    ...{ sessionId, conversationId, turnId, toolCallId, callId, attempt: null },
    actor: { userId, clientId },
    fields: { ...(toolName !== null && { toolName }), ...fields, source: origin.source },
  };
}
