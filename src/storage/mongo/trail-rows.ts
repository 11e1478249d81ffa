import type { AuditEvent, Json } from '@patchbay/protocol';
import { isoTime } from '../../common/clock.js';
import { fromText, toText } from '../plain-text.js';
import type { AuditDraft } from '../ports/audit.store.js';
import type { TrailDocument } from './trail-collections.js';

/** The event as it stands in the trail. */
export function toDocument(workspaceId: string, seq: number, event: AuditDraft): TrailDocument {
  const { eventId, name, at, sessionId, conversationId, turnId, toolCallId, callId, attempt } = event;
  const { toolName, success, errorCode, path, ...rest } = event.fields;
  // What is of another type than its place stays among the rest, null included: it must come back as it was.
  const keep = (field: string, value: Json | undefined): null => {
    if (value !== undefined) rest[field] = value;
    return null;
  };
  const text = (field: string, value: Json | undefined): string | null =>
    typeof value === 'string' ? toText(value) : keep(field, value);
  const { userId, clientId } = event.actor;
  return {
    ...{ _id: eventId, workspaceId, seq, name, at, sessionId, conversationId, turnId },
    ...{ toolCallId: toolCallId === null ? null : toText(toolCallId), callId, attempt, userId, clientId },
    toolName: text('toolName', toolName),
    success: typeof success === 'boolean' ? success : keep('success', success),
    errorCode: text('errorCode', errorCode),
    path: text('path', path),
    fields: JSON.stringify(rest),
  };
}

/** An event of the trail as it goes over the wire. */
export function toEvent(document: TrailDocument): AuditEvent {
  const { _id: eventId, seq, name, at, sessionId, conversationId, turnId, toolCallId } = document;
  const { callId, attempt, userId, clientId, toolName, success, errorCode, path } = document;
  const fields: AuditEvent['fields'] = {};
  if (toolName !== null) fields.toolName = fromText(toolName);
  if (path !== null) fields.path = fromText(path);
  if (success !== null) fields.success = success;
  if (errorCode !== null) fields.errorCode = fromText(errorCode);
  return {
    ...{ seq, eventId, name, at: isoTime(at), sessionId, conversationId, turnId },
    toolCallId: toolCallId === null ? null : fromText(toolCallId),
    ...{ callId, attempt, actor: { userId, clientId } },
    fields: { ...fields, ...(JSON.parse(document.fields) as AuditEvent['fields']) },
  };
}
