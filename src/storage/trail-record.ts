import type { AuditEvent, Json } from '@patchbay/protocol';
import { isoTime } from '../common/clock.js';
import { fromText, toText } from './plain-text.js';
import type { AuditDraft, TrailRecord } from './ports/audit.store.js';

/** The event as it stands in the trail of its workspace, under that sequence number. */
export function toTrailRecord(seq: number, event: AuditDraft): Omit<TrailRecord, 'workspaceId'> {
  const { eventId, name, at, sessionId, conversationId, turnId, toolCallId, callId, attempt } = event;
  const { toolName, success, errorCode, path, ...rest } = event.fields;
  // A value of another type than its place stays among the rest, null included: it must come back as it was.
  const keep = (field: string, value: Json | undefined): null => {
    if (value !== undefined) rest[field] = value;
    return null;
  };
  const text = (field: string, value: Json | undefined): string | null =>
    typeof value === 'string' ? toText(value) : keep(field, value);
  return {
    ...{ seq, eventId, name, at, sessionId, conversationId, turnId },
    ...{ toolCallId: toolCallId === null ? null : toText(toolCallId), callId, attempt },
    ...{ userId: event.actor.userId, clientId: event.actor.clientId },
    toolName: text('toolName', toolName),
    success: typeof success === 'boolean' ? success : keep('success', success),
    errorCode: text('errorCode', errorCode),
    path: text('path', path),
    fields: JSON.stringify(rest),
  };
}

/** An event of the trail as it goes over the wire. */
export function toAuditEvent(record: Omit<TrailRecord, 'workspaceId'>): AuditEvent {
  const { seq, eventId, name, at, sessionId, conversationId, turnId, toolCallId, callId, attempt } = record;
  const { userId, clientId, toolName, success, errorCode, path } = record;
  const fields: AuditEvent['fields'] = {};
  if (toolName !== null) fields.toolName = fromText(toolName);
  if (path !== null) fields.path = fromText(path);
  if (success !== null) fields.success = success;
  if (errorCode !== null) fields.errorCode = fromText(errorCode);
  return {
    ...{ seq, eventId, name, at: isoTime(at), sessionId, conversationId, turnId },
    toolCallId: toolCallId === null ? null : fromText(toolCallId),
    ...{ callId, attempt, actor: { userId, clientId } },
    fields: { ...fields, ...(JSON.parse(record.fields) as AuditEvent['fields']) },
  };
}
