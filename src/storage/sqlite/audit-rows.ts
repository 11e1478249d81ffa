import type { AuditDraft, TrailRecord } from '../ports/audit.store.js';
import { toTrailRecord } from '../trail-record.js';
import type { SqliteDatabase } from './database.js';
import type { SqlValue } from './values.js';

/** Without the workspace, which precedes them as the key. */
const COLUMNS = [
  ...['seq', 'event_id', 'name', 'at', 'session_id', 'conversation_id', 'turn_id', 'tool_call_id', 'call_id'],
  ...['attempt', 'user_id', 'client_id', 'tool_name', 'success', 'error_code', 'path', 'fields'],
].join(', ');

const ROW = `(?${', ?'.repeat(17)})`;
/** Events per statement. */
const ROWS_PER_STATEMENT = 16;

/** Selects what `toRecord` reads. */
export const SELECT_EVENTS = `SELECT ${COLUMNS} FROM audit_events`;

/** Follows the table name in queries for one turn or session: otherwise SQLite scans the whole workspace. */
export const OF_TURN = 'INDEXED BY audit_turn';
export const OF_SESSION = 'INDEXED BY audit_session';
/** For calls without a turn. */
export const OF_CALL = 'INDEXED BY audit_call';

type Text = string | null;
type Row = Omit<TrailRecord, 'workspaceId'>;
/** The columns of `SELECT_EVENTS`. */
export type EventRow = [
  ...[seq: number, eventId: string, name: string, at: number],
  ...[sessionId: Text, conversationId: Text, turnId: Text, toolCallId: Text, callId: Text],
  ...[attempt: number | null, userId: Text, clientId: Text],
  ...[toolName: Text, success: number | null, errorCode: Text, path: Text, fields: string],
];

/** Appends events with the workspace's next sequence numbers; call it in the job of the recorded change. */
export function appendEvents(
  database: SqliteDatabase,
  workspace: number,
  events: readonly AuditDraft[],
): void {
  if (events.length === 0) return;
  let seq = lastSeq(database, workspace);
  const records = events.map((event) => toTrailRecord(++seq, event));
  for (let at = 0; at < records.length; at += ROWS_PER_STATEMENT)
    insertRecords(database, workspace, records.slice(at, at + ROWS_PER_STATEMENT));
  database.noteGrowth(workspace);
}

/** Inserts events with given sequence numbers in one statement; call it in a job. */
export function insertRecords(database: SqliteDatabase, workspace: number, records: readonly Row[]): void {
  const rows = records.map(() => ROW).join(', ');
  const sql = `INSERT INTO audit_events (workspace, ${COLUMNS}) VALUES ${rows}`;
  database.run(
    sql,
    records.flatMap((record) => toRow(workspace, record)),
  );
}

/** Whether the event is in the trail. A turn has few events, stored together; others have an index. */
export function isRecorded(
  database: SqliteDatabase,
  workspace: number,
  { turnId, eventId }: AuditDraft,
): boolean {
  const [index, ofTurn] = turnId === null ? ['', 'turn_id IS NULL'] : [OF_TURN, 'turn_id = ?'];
  const sql = `SELECT 1 FROM audit_events ${index} WHERE workspace = ? AND event_id = ? AND ${ofTurn}`;
  return database.get(sql, [workspace, eventId, ...(turnId === null ? [] : [turnId])]) !== null;
}

/** Those of the events that are not in the trail. For many of one turn, the turn's events are read once. */
export function unrecorded(
  database: SqliteDatabase,
  workspace: number,
  events: readonly AuditDraft[],
): readonly AuditDraft[] {
  if (events.length === 1) return events.filter((event) => !isRecorded(database, workspace, event));
  const ofTurns = new Map<string, Set<string>>();
  return events.filter((event) => {
    const { turnId, eventId } = event;
    if (turnId === null) return !isRecorded(database, workspace, event);
    const ofTurn = ofTurns.get(turnId) ?? idsOfTurn(database, workspace, turnId);
    ofTurns.set(turnId, ofTurn);
    return !ofTurn.has(eventId);
  });
}

function idsOfTurn(database: SqliteDatabase, workspace: number, turnId: string): Set<string> {
  const sql = `SELECT event_id FROM audit_events ${OF_TURN} WHERE workspace = ? AND turn_id = ?`;
  return new Set(database.all<[string]>(sql, [workspace, turnId]).map(([eventId]) => eventId));
}

/** The newest sequence number of the workspace; 0 without events. */
export function lastSeq(database: SqliteDatabase, workspace: number): number {
  const row = database.get<[number]>(
    'SELECT seq FROM audit_events WHERE workspace = ? ORDER BY seq DESC LIMIT 1',
    [workspace],
  );
  return row === null ? 0 : row[0];
}

function toRow(workspace: number, record: Row): SqlValue[] {
  const { success } = record;
  return [
    ...[workspace, record.seq, record.eventId, record.name, record.at],
    ...[record.sessionId, record.conversationId, record.turnId, record.toolCallId, record.callId],
    ...[record.attempt, record.userId, record.clientId, record.toolName],
    ...[success === null ? null : Number(success), record.errorCode, record.path, record.fields],
  ];
}

/** An event as stored in the trail. */
export function toRecord(row: EventRow): Row {
  const [seq, eventId, name, at, sessionId, conversationId, turnId, toolCallId, callId, ...others] = row;
  const [attempt, userId, clientId, toolName, success, errorCode, path, fields] = others;
  return {
    ...{ seq, eventId, name, at, sessionId, conversationId, turnId, toolCallId, callId, attempt },
    ...{ userId, clientId, toolName, errorCode, path, fields },
    success: success === null ? null : success === 1,
  };
}
