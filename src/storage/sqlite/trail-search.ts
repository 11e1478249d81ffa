import { mayNamePath, searchTextsOf } from '../event-paths.js';
import type { AuditDraft, AuditFilter, AuditOrder } from '../ports/audit.store.js';
import type { SqliteDatabase } from './database.js';
import { idColumn } from './short-ids.js';
import type { TrailProjection } from './trail-projection.js';
import { fromRow, propertyText } from './trail-rows.js';
import type { SqlValue } from './values.js';

/** Rows of one step: it blocks this thread. */
const STEP_ROWS = 256;

/** A row that a search examines; `events` is null if none of them can match. */
export type ExaminedRow = [id: number, seq: number, lastSeq: number, events: string | null];

/** Reads up to `limit` rows beyond a row. */
type Read = (beyond: ExaminedRow, limit: number) => ExaminedRow[];

/** What a search reads: the rows of a workspace beyond a sequence number, in this order. */
export interface SearchRange {
  workspace: number;
  filter: AuditFilter;
  afterSeq: number;
  order: AuditOrder;
  /** Rows of the first step; each further one reads twice as many. */
  firstRows: number;
}

/**
 * The rows that may have matching events, in steps: those of a session, a turn or a call if the filter names one, else
 * all of the workspace. The rows that are not projected yet are scanned.
 */
export function* examineRows(
  database: SqliteDatabase,
  projection: TrailProjection,
  range: SearchRange,
): Generator<ExaminedRow[]> {
  const { workspace, filter, order } = range;
  const start = startOf(database, range);
  const isAscending = order === 'asc';
  const [beyond, seqBeyond] = isAscending ? ['>', 'seq > ?'] : ['<', 'seq < ?'];
  const { clause, texts } = mayMatch(filter);
  const columns = `t.id, t.seq, t.last_seq, CASE WHEN ${clause} THEN t.events END`;
  const name = searchName(database, projection, workspace, filter);
  const reach = projection.reach(workspace);
  const scan = (afterRow: number, fromSeq: number): Read => {
    const sql = `SELECT ${columns} FROM trail t WHERE t.workspace = ? AND t.${seqBeyond} AND t.seq >= ? AND t.id > ?
      ORDER BY t.seq ${order} LIMIT ?`;
    return ([, seq], limit) =>
      database.all<ExaminedRow>(sql, [...texts, workspace, seq, fromSeq, afterRow, limit]);
  };
  if (name === null) {
    yield* steps(scan(0, 0), start, range.firstRows);
    return;
  }
  const named: Read = ([id], limit) => {
    const sql = `SELECT ${columns} FROM trail_names n CROSS JOIN trail t ON t.id = n.trail
      WHERE n.name = ? AND n.workspace = ? AND n.trail ${beyond} ? AND n.trail <= ?
      ORDER BY n.trail ${order} LIMIT ?`;
    return database.all<ExaminedRow>(sql, [...texts, idColumn(name), workspace, id, reach.row, limit]);
  };
  const tail = scan(reach.row, reach.firstSeq);
  for (const read of isAscending ? [named, tail] : [tail, named]) yield* steps(read, start, range.firstRows);
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
function mayMatch(filter: AuditFilter): { clause: string; texts: string[] } {
  const texts = PROPERTIES.flatMap((property) => {
    const value = filter[property];
    return value === undefined ? [] : [propertyText(property === 'event' ? 'name' : property, value)];
  });
  const clauses = texts.map(() => 'instr(t.events, ?) > 0');
  const { path, below } = filter;
  if (path !== undefined || (below !== undefined && below !== '')) {
    const paths = searchTextsOf(filter);
    clauses.push(`(${paths.map(() => 'instr(t.events, ?) > 0').join(' OR ')})`);
    texts.push(...paths);
  }
  return { clause: clauses.join(' AND ') || '1', texts };
}

/** The name whose rows have all matching events; null for the whole trail. */
function searchName(
  database: SqliteDatabase,
  projection: TrailProjection,
  workspace: number,
  { sessionId, turnId, callId }: AuditFilter,
): string | null {
  if (turnId !== undefined || callId === undefined) return turnId ?? sessionId ?? null;
  // Events of a call belong to its turn, or to none.
  const first = projection.firstRowOfCall(workspace, callId);
  const { row, firstSeq } = projection.reach(workspace);
  const [where, values]: [string, SqlValue[]] =
    first === null
      ? [
          'workspace = ? AND seq >= ? AND id > ? AND instr(events, ?) > 0 ORDER BY seq LIMIT 1',
          [workspace, firstSeq, row, propertyText('callId', callId)],
        ]
      : ['id = ?', [first]];
  const found = database.get<[string]>(`SELECT events FROM trail WHERE ${where}`, values);
  return fromRow(found?.[0] ?? '[]').find((event) => event.callId === callId)?.turnId ?? callId;
}

/** The row before the first one to examine. Its place in the trail is the sequence number's, even if it has none. */
function startOf(database: SqliteDatabase, { workspace, afterSeq, order }: SearchRange): ExaminedRow {
  const sql = 'SELECT id, seq FROM trail WHERE workspace = ? AND seq <= ? ORDER BY seq DESC LIMIT 1';
  const at = order === 'asc' ? afterSeq + 1 : afterSeq - 1;
  const [id, seq] = database.get<[number, number]>(sql, [workspace, at]) ?? [0, 0];
  return order === 'asc' ? [id - 1, seq - 1, seq - 1, null] : [id + 1, seq + 1, seq + 1, null];
}

function* steps(read: Read, start: ExaminedRow, firstRows: number): Generator<ExaminedRow[]> {
  let last = start;
  for (let limit = Math.min(firstRows, STEP_ROWS); ; limit = Math.min(2 * limit, STEP_ROWS)) {
    const rows = read(last, limit);
    if (rows.length > 0) yield rows;
    if (rows.length < limit) return;
    last = rows.at(-1)!;
  }
}
