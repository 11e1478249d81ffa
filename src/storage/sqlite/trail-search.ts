import { mayNamePath, pathTextsOf } from '../event-paths.js';
import type { AuditDraft, AuditFilter, AuditOrder } from '../ports/audit.store.js';
import type { SqliteDatabase } from './database.js';
import { idColumn } from './short-ids.js';
import type { TrailProjection } from './trail-projection.js';
import { fromRow, propertyText } from './trail-rows.js';
import type { SqlValue } from './values.js';

/** Events, or rows of a name, that one step examines: it blocks this thread. */
const STEP_EVENTS = 4_096;
const STEP_ROWS = 64;

/** What a search reads: the trail of a workspace beyond a sequence number, in this order. */
export interface SearchRange {
  workspace: number;
  filter: AuditFilter;
  afterSeq: number;
  /** The last sequence number of the workspace. */
  lastSeq: number;
  order: AuditOrder;
  /** Events that are wanted. */
  limit: number;
}

/** A step of a search. */
export interface SearchStep {
  /** The rows that may have matching events, in the order of the search. */
  rows: [seq: number, events: string][];
  /** Sequence numbers of the events that count, of those in the rows. */
  first: number;
  last: number;
  examined: number;
}

/** A row of a name; `events` is null if none of them can match. */
type NamedRow = [id: number, seq: number, lastSeq: number, events: string | null];

/**
 * Examines the rows of a session, a turn or a call if the filter names one, else all of the workspace. The rows that are
 * not projected yet are scanned.
 */
export function* examine(
  database: SqliteDatabase,
  projection: TrailProjection,
  range: SearchRange,
): Generator<SearchStep> {
  const name = searchName(database, projection, range);
  const reach = projection.reach(range.workspace);
  if (name === null) yield* scan(database, range, reach);
  else {
    const parts = [named(database, range, name, reach.row), tail(database, range, reach)];
    for (const part of range.order === 'asc' ? parts : parts.reverse()) yield* part;
  }
}

/** Examines the whole trail. */
function* scan(
  database: SqliteDatabase,
  range: SearchRange,
  reach: { firstSeq: number; row: number },
): Generator<SearchStep> {
  const { workspace, filter, afterSeq, lastSeq, order, limit } = range;
  const { clause, values } = mayMatch(filter);
  const sql = `SELECT t.seq, t.events FROM trail_seqs s CROSS JOIN trail t ON t.id = s.trail
    WHERE s.workspace = ? AND s.trail <= ? AND s.seq <= ? AND s.seq >=
      coalesce((SELECT max(seq) FROM trail_seqs WHERE workspace = ? AND seq <= ?), 0) AND ${clause} ORDER BY s.seq`;
  const isAscending = order === 'asc';
  let low = isAscending ? afterSeq + 1 : 1;
  let high = isAscending ? lastSeq : Math.min(lastSeq, afterSeq - 1);
  for (let size = limit + 1; low <= high; size = Math.min(2 * size, STEP_EVENTS)) {
    const first = isAscending ? low : Math.max(low, high - size + 1);
    const last = isAscending ? Math.min(high, low + size - 1) : high;
    const keys = [workspace, reach.row, last, workspace, first];
    const rows = database.all<[number, string]>(sql, [...keys, ...values]);
    if (last >= reach.firstSeq) rows.push(...tailRows(database, range, reach.row, first, last));
    yield { rows: isAscending ? rows : rows.reverse(), first, last, examined: last - first + 1 };
    if (isAscending) low = last + 1;
    else high = first - 1;
  }
}

/** Examines the rows that are not projected yet, which are few. Those without a match count as nothing. */
function* tail(
  database: SqliteDatabase,
  range: SearchRange,
  reach: { firstSeq: number; row: number },
): Generator<SearchStep> {
  const { afterSeq, lastSeq, order } = range;
  const first = order === 'asc' ? Math.max(reach.firstSeq, afterSeq + 1) : reach.firstSeq;
  const last = order === 'asc' ? lastSeq : Math.min(lastSeq, afterSeq - 1);
  if (first > last) return;
  const rows = tailRows(database, range, reach.row, first, last);
  yield { rows: order === 'asc' ? rows : rows.reverse(), first, last, examined: rows.length };
}

/** The rows behind this one that may have matching events in these bounds. */
function tailRows(
  database: SqliteDatabase,
  { workspace, filter }: SearchRange,
  row: number,
  first: number,
  last: number,
): [number, string][] {
  const { clause, values } = mayMatch(filter);
  const sql = `SELECT t.seq, t.events FROM trail t
    WHERE t.id > ? AND t.workspace = ? AND t.seq <= ? AND t.last_seq >= ? AND ${clause} ORDER BY t.id`;
  return database.all(sql, [row, workspace, last, first, ...values]);
}

/** Examines the projected rows of a name, up to this row. */
function* named(
  database: SqliteDatabase,
  { workspace, filter, afterSeq, order, limit }: SearchRange,
  name: string,
  lastRow: number,
): Generator<SearchStep> {
  const { clause, values } = mayMatch(filter);
  const isAscending = order === 'asc';
  const sql = `SELECT t.id, t.seq, t.last_seq, CASE WHEN ${clause} THEN t.events END
    FROM trail_names n CROSS JOIN trail t ON t.id = n.trail
    WHERE n.name = ? AND n.workspace = ? AND n.trail ${isAscending ? '>' : '<'} ? AND n.trail <= ?
    ORDER BY n.trail ${order} LIMIT ?`;
  const key = [idColumn(name), workspace];
  const bounds = isAscending ? { first: afterSeq + 1, last: Infinity } : { first: 1, last: afterSeq - 1 };
  let row = isAscending
    ? rowOf(database, workspace, bounds.first) - 1
    : rowOf(database, workspace, bounds.last) + 1;
  for (let size = Math.min(limit + 1, STEP_ROWS); ; size = Math.min(2 * size, STEP_ROWS)) {
    const found = database.all<NamedRow>(sql, [...values, ...key, row, lastRow, size]);
    const rows = found.flatMap(([, seq, , events]): [number, string][] =>
      events === null ? [] : [[seq, events]],
    );
    const examined = found.reduce((sum, [, seq, lastSeq]) => sum + lastSeq - seq + 1, 0);
    const end = found.at(-1);
    if (end === undefined) return;
    const [, seq, lastSeq] = end;
    yield { rows, examined, ...(isAscending ? { ...bounds, last: lastSeq } : { ...bounds, first: seq }) };
    if (found.length < size) return;
    [row] = end;
  }
}

/** The projected row with the event of this number, or the last one before it; 0 if there is none. */
function rowOf(database: SqliteDatabase, workspace: number, seq: number): number {
  const sql = 'SELECT trail FROM trail_seqs WHERE workspace = ? AND seq <= ? ORDER BY seq DESC LIMIT 1';
  return database.get<[number]>(sql, [workspace, seq])?.[0] ?? 0;
}

/** Whether an event matches; a path also matches an event that concerns more files than it names. */
export function matches(event: AuditDraft, filter: AuditFilter): boolean {
  const { from = -Infinity, to = Infinity, path, below } = filter;
  if (event.at < from || event.at > to) return false;
  const values = propertiesOf(event);
  for (const property of PROPERTIES)
    if (filter[property] !== undefined && filter[property] !== values[property]) return false;
  return (path === undefined && below === undefined) || mayNamePath(event, filter);
}

/** Properties of a filter that compare one value of an event. */
const PROPERTIES = [
  ...(['sessionId', 'conversationId', 'turnId', 'toolCallId', 'callId', 'userId', 'clientId'] as const),
  ...(['toolName', 'event', 'success', 'errorCode'] as const),
] as const;

function propertiesOf({ actor, fields, ...event }: AuditDraft): Record<(typeof PROPERTIES)[number], unknown> {
  const { toolName, success, errorCode } = fields;
  return { ...event, ...actor, toolName, success, errorCode, event: event.name };
}

/** A condition that every row with a matching event fulfils, and its parameters. */
function mayMatch(filter: AuditFilter): { clause: string; values: SqlValue[] } {
  const clauses: string[] = [];
  const values: SqlValue[] = [];
  const require = (clause: string, ...parameters: SqlValue[]): void => {
    clauses.push(clause);
    values.push(...parameters);
  };
  const { from, to, path, below } = filter;
  if (from !== undefined) require('t.last_at >= ?', from);
  if (to !== undefined) require('t.first_at <= ?', to);
  for (const property of PROPERTIES) {
    const value = filter[property];
    if (value === undefined) continue;
    require(CONTAINS, propertyText(property === 'event' ? 'name' : property, value));
  }
  if (path !== undefined || (below !== undefined && below !== '')) {
    const texts = pathTextsOf(filter);
    require(`(t.more_paths = 1 OR ${texts.map(() => CONTAINS).join(' OR ')})`, ...texts);
  }
  return { clause: clauses.join(' AND ') || '1', values };
}

const CONTAINS = 'instr(t.events, ?) > 0';

/** The name whose rows have all matching events; null for the whole trail. */
function searchName(
  database: SqliteDatabase,
  projection: TrailProjection,
  { workspace, filter: { sessionId, turnId, callId } }: SearchRange,
): string | null {
  if (turnId !== undefined || callId === undefined) return turnId ?? sessionId ?? null;
  // Events of a call belong to its turn, or to none.
  const first = projection.firstRowOfCall(workspace, callId);
  const { row } = projection.reach(workspace);
  const ofTail = 'id > ? AND workspace = ? AND instr(events, ?) > 0 ORDER BY id LIMIT 1';
  const [where, values]: [string, SqlValue[]] =
    first === null ? [ofTail, [row, workspace, propertyText('callId', callId)]] : ['id = ?', [first]];
  const found = database.get<[string]>(`SELECT events FROM trail WHERE ${where}`, values);
  return fromRow(found?.[0] ?? '[]').find((event) => event.callId === callId)?.turnId ?? callId;
}
