import type { AuditEvent, Json } from '@patchbay/protocol';
import { isoTime } from '../../common/clock.js';
import type { AuditDraft } from '../ports/audit.store.js';
import type { SqliteDatabase } from './database.js';
import { fromText, type SqlValue, toText } from './values.js';

const COLUMNS = [
  ...['seq', 'event_id', 'name', 'at', 'session_id', 'conversation_id', 'turn_id', 'tool_call_id', 'call_id'],
  ...['attempt', 'user_id', 'client_id', 'tool_name', 'success', 'error_code', 'path', 'fields'],
].join(', ');

const INSERT = `INSERT INTO audit_events (workspace, ${COLUMNS}) VALUES (?${', ?'.repeat(17)})`;

/** Selects what `toEvent` reads. */
export const SELECT_EVENTS = `SELECT ${COLUMNS} FROM audit_events`;

type Text = string | null;
/** The columns of `SELECT_EVENTS`. */
export type EventRow = [
  ...[seq: number, eventId: string, name: string, at: number],
  ...[sessionId: Text, conversationId: Text, turnId: Text, toolCallId: Text, callId: Text],
  ...[attempt: number | null, userId: Text, clientId: Text],
  ...[toolName: Text, success: number | null, errorCode: Text, path: Text, fields: string],
];

/** Writes events under the workspace's next sequence numbers; inside a job, beside the change that they record. */
export function appendEvents(
  database: SqliteDatabase,
  workspace: number,
  events: readonly AuditDraft[],
): void {
  if (events.length === 0) return;
  let seq = lastSeq(database, workspace);
  for (const event of events) database.run(INSERT, toRow(workspace, ++seq, event));
}

/** How many events of a turn, or of no turn, may have come between an event and the same one again. */
const REPEATED_WITHIN = 256;

/** Those of the events that are not among the newest of their turn, or of what belongs to no turn. */
export function unrecorded(
  database: SqliteDatabase,
  workspace: number,
  events: readonly AuditDraft[],
): AuditDraft[] {
  const sql =
    'SELECT event_id FROM audit_events WHERE workspace = ? AND turn_id IS ? ORDER BY seq DESC LIMIT ?';
  const limit = REPEATED_WITHIN + events.length;
  const known = [...new Set(events.map(({ turnId }) => turnId))].flatMap((turnId) =>
    database.all<[string]>(sql, [workspace, turnId, limit]),
  );
  const ids = new Set(known.map(([eventId]) => eventId));
  return events.filter(({ eventId }) => !ids.has(eventId));
}

/** The newest sequence number of the workspace; 0 where it has no events. */
export function lastSeq(database: SqliteDatabase, workspace: number): number {
  const row = database.get<[number]>(
    'SELECT seq FROM audit_events WHERE workspace = ? ORDER BY seq DESC LIMIT 1',
    [workspace],
  );
  return row === null ? 0 : row[0];
}

function toRow(workspace: number, seq: number, event: AuditDraft): SqlValue[] {
  const { toolName, success, errorCode, path, ...rest } = event.fields;
  // What does not have the column's type stays among the rest, null included: it must come back as it was.
  const keep = (name: string, value: Json | undefined): null => {
    if (value !== undefined) rest[name] = value;
    return null;
  };
  const text = (name: string, value: Json | undefined): string | null =>
    typeof value === 'string' ? toText(value) : keep(name, value);
  return [
    ...[workspace, seq, event.eventId, event.name, event.at],
    ...[event.sessionId, event.conversationId, event.turnId],
    ...[event.toolCallId === null ? null : toText(event.toolCallId), event.callId],
    ...[event.attempt, event.actor.userId, event.actor.clientId],
    text('toolName', toolName),
    typeof success === 'boolean' ? Number(success) : keep('success', success),
    text('errorCode', errorCode),
    text('path', path),
    JSON.stringify(rest),
  ];
}

/** A stored event as it goes over the wire. */
export function toEvent(row: EventRow): AuditEvent {
  const [seq, eventId, name, at, sessionId, conversationId, turnId, toolCallId, callId, ...others] = row;
  const [attempt, userId, clientId, toolName, success, errorCode, path, rest] = others;
  const fields: AuditEvent['fields'] = {};
  if (toolName !== null) fields.toolName = fromText(toolName);
  if (path !== null) fields.path = fromText(path);
  if (success !== null) fields.success = success === 1;
  if (errorCode !== null) fields.errorCode = fromText(errorCode);
  return {
    seq,
    eventId,
    name,
    at: isoTime(at),
    sessionId,
    conversationId,
    turnId,
    toolCallId: toolCallId === null ? null : fromText(toolCallId),
    callId,
    attempt,
    actor: { userId, clientId },
    fields: { ...fields, ...(JSON.parse(rest) as AuditEvent['fields']) },
  };
}
