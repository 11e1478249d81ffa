import type { AuditEvent, Json } from '@patchbay/protocol';
import { isoTime } from '../common/clock.js';
import { fromText, toText } from './plain-text.js';
import type { AuditDraft, TrailRecord } from './ports/audit.store.js';

/** The event as stored in its workspace's trail, with that sequence number. */
export function toTrailRecord(seq: number, event: AuditDraft): Omit<TrailRecord, 'workspaceId'> {
  const { eventId, name, at, sessionId, conversationId, turnId, toolCallId, callId, attempt } = event;
  const { toolName, success, errorCode, path, ...rest } = event.fields;
  // A value of an unexpected type, including null, stays among the other fields: it must be returned unchanged.
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

/** The wire form of an event of the trail. */
export function toAuditEvent(record: Omit<TrailRecord, 'workspaceId'>): AuditEvent {
  return { ...toAuditDraft(record), seq: record.seq, at: isoTime(record.at) };
}

/** The event before it was stored. */
export function toAuditDraft(record: Omit<TrailRecord, 'workspaceId' | 'seq'>): AuditDraft {
  const { eventId, name, at, sessionId, conversationId, turnId, toolCallId, callId, attempt } = record;
  const { userId, clientId, toolName, success, errorCode, path } = record;
  const fields: AuditEvent['fields'] = {};
  if (toolName !== null) fields.toolName = fromText(toolName);
  if (path !== null) fields.path = fromText(path);
  if (success !== null) fields.success = success;
  if (errorCode !== null) fields.errorCode = fromText(errorCode);
  return {
    ...{ eventId, name, at, sessionId, conversationId, turnId },
    toolCallId: toolCallId === null ? null : fromText(toolCallId),
    ...{ callId, attempt, actor: { userId, clientId } },
    fields: { ...fields, ...(JSON.parse(record.fields) as AuditEvent['fields']) },
  };
}
