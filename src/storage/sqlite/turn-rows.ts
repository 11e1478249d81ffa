import type { TurnStatus } from '@patchbay/protocol';
import type { Call, Turn, TurnRef } from '../ports/turn.js';
import { positionOf } from '../ports/turn-calls.js';
import type { SqliteDatabase } from './database.js';
import { bytesOf, type JsonColumn } from './large-texts.js';
import type { SqlValue } from './values.js';

/** Selects what `toTurn` reads. */
export const SELECT_TURNS = `SELECT id, workspace, session_id, turn_id, user_id, version, status, accepted_at,
  due_at, last_client_id, request_hash, state FROM turns`;

type Column =
  | 'workspaceId'
  | 'sessionId'
  | 'turnId'
  | 'userId'
  | 'version'
  | 'status'
  | 'acceptedAt'
  | 'dueAt'
  | 'lastClientId'
  | 'requestHash'
  | 'calls';

/** The columns of `SELECT_TURNS`. */
export type TurnRow = [
  id: number,
  workspace: number,
  sessionId: string,
  turnId: string,
  userId: string,
  version: number,
  status: TurnStatus,
  acceptedAt: number,
  dueAt: number | null,
  lastClientId: string | null,
  requestHash: string,
  state: string,
];

const INSERT = `INSERT INTO turns (workspace, session_id, turn_id, user_id, version, status, accepted_at, due_at,
  last_client_id, request_hash, calls, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** Room for what belongs to the calls of one turn: integer keys from its own times this. */
const CALLS_MAX = 65_536;

/** Characters of arguments that lie in the row of their call: each save of the call writes them again. */
const SMALL_ARGUMENTS = 1024;

const SELECT_ARGUMENTS = `SELECT coalesce(c.arguments, a.arguments) FROM turn_calls c
  LEFT JOIN turn_arguments a ON a.id = c.id`;

/** What of a turn is neither a column nor its calls, as JSON. */
export function stateOf(turn: Turn): string {
  const {
    workspaceId: _workspaceId,
    sessionId: _sessionId,
    turnId: _turnId,
    userId: _userId,
    version: _version,
    status: _status,
    acceptedAt: _acceptedAt,
    dueAt: _dueAt,
    lastClientId: _lastClientId,
    requestHash: _requestHash,
    calls: _calls,
    ...state
  } = turn;
  return JSON.stringify(state satisfies Omit<Turn, Column>);
}

/** The aggregate as it was stored. */
export function toTurn(database: SqliteDatabase, workspaceId: string, row: TurnRow): Turn {
  const [id, , sessionId, turnId, userId, version, status, acceptedAt, dueAt, ...rest] = row;
  const [lastClientId, requestHash, state] = rest;
  const stored = JSON.parse(state) as Omit<Turn, Column | 'folder'> & Partial<Pick<Turn, 'folder'>>;
  return {
    ...{ workspaceId, sessionId, turnId, userId, version, status, acceptedAt, dueAt, lastClientId },
    requestHash,
    ...stored,
    // Older versions have stored none.
    folder: stored.folder ?? null,
    calls: readCalls(database, id),
  };
}

/** Writes the rows of a new turn and its calls, with their arguments, and returns its key. */
export function insertTurn(
  database: SqliteDatabase,
  workspace: number,
  turn: Turn,
  columns: readonly JsonColumn[],
): number {
  if (columns.length > CALLS_MAX) throw new RangeError(`A turn holds up to ${CALLS_MAX} calls.`);
  const { lastInsertRowid } = database.run(INSERT, [
    ...[workspace, turn.sessionId, turn.turnId, turn.userId, turn.version, turn.status, turn.acceptedAt],
    ...[turn.dueAt, turn.lastClientId, turn.requestHash, turn.calls.length, stateOf(turn)],
  ]);
  const key = Number(lastInsertRowid);
  turn.calls.forEach((call, position) => {
    const { column } = columns[position]!;
    const [id, isSmall] = [key * CALLS_MAX + position, column.length <= SMALL_ARGUMENTS];
    database.run('INSERT INTO turn_calls (id, call_id, state, arguments) VALUES (?, ?, ?, ?)', [
      ...[id, call.callId, JSON.stringify(call), isSmall ? column : null],
    ]);
    if (!isSmall) database.run('INSERT INTO turn_arguments (id, arguments) VALUES (?, ?)', [id, column]);
  });
  return key;
}

/** Writes the calls at these positions as they are now. */
export function updateCalls(
  database: SqliteDatabase,
  key: number,
  turn: Turn,
  positions: readonly number[],
): void {
  for (const at of positions) {
    const state = JSON.stringify(turn.calls[at]);
    database.run('UPDATE turn_calls SET state = ? WHERE id = ?', [state, key * CALLS_MAX + at]);
  }
}

/** The calls of a turn, in order. */
function readCalls(database: SqliteDatabase, key: number): Call[] {
  return database
    .all<[string]>('SELECT state FROM turn_calls WHERE id >= ? AND id < ? ORDER BY id', span(key))
    .map(([state]) => JSON.parse(state) as Call);
}

/**
 * Writes what has changed of a turn, `current` being what its row has. Only indexed columns that change are named:
 * SQLite rewrites the index of every column that is.
 */
export function updateTurn(
  database: SqliteDatabase,
  key: number,
  turn: Turn,
  current: { status: string; dueAt: number | null; lastClientId: string | null },
): void {
  const columns = ['version', 'state'];
  const values: SqlValue[] = [turn.version, stateOf(turn)];
  if (turn.lastClientId !== current.lastClientId) {
    columns.push('last_client_id');
    values.push(turn.lastClientId);
  }
  if (turn.dueAt !== current.dueAt) {
    columns.push('due_at');
    values.push(turn.dueAt);
  }
  if (turn.status !== current.status) {
    columns.push('status');
    values.push(turn.status);
  }
  const assignments = columns.map((column) => `${column} = ?`).join(', ');
  database.run(`UPDATE turns SET ${assignments} WHERE id = ?`, [...values, key]);
}

/** The key of the turn's row; null where it has none. */
export function turnRowKey(database: SqliteDatabase, workspace: number, ref: TurnRef): number | null {
  const row = database.get<[number]>(
    'SELECT id FROM turns WHERE workspace = ? AND turn_id = ? AND session_id = ?',
    [workspace, ref.turnId, ref.sessionId],
  );
  return row === null ? null : row[0];
}

/** In the place of a result: the call has none yet, its edited arguments alone. */
const NO_RESULT = '';

const INSERT_RESULT = `INSERT INTO turn_results (id, call_id, result, details, edited_arguments) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET result = excluded.result, details = excluded.details
    WHERE result = '${NO_RESULT}' AND excluded.result <> '${NO_RESULT}' AND excluded.edited_arguments IS NULL`;

/** What is told of the end of a call, as its row has it; `result` null: it has edited arguments alone so far. */
export interface ResultRow {
  callId: string;
  result: JsonColumn | null;
  details: JsonColumn | null;
  editedArguments: JsonColumn | null;
}

/** Writes results of a turn's calls, or their edited arguments first; what is there already fails the write. */
export function insertResults(
  database: SqliteDatabase,
  key: number,
  turn: Turn,
  results: readonly ResultRow[],
): void {
  for (const { callId, result, details, editedArguments } of results) {
    const position = positionOf(turn.calls, callId);
    if (position === -1) throw new Error(`Turn ${turn.turnId} has no call ${callId}.`);
    const { changes } = database.run(INSERT_RESULT, [
      ...[key * CALLS_MAX + position, callId, result?.column ?? NO_RESULT],
      ...[details?.column ?? null, editedArguments?.column ?? null],
    ]);
    if (changes === 0) throw new Error(`Call ${callId} has a result already.`);
  }
}

/** Arguments of all calls of a turn as their columns have them, in order. */
export function readArguments(database: SqliteDatabase, key: number): string[] {
  return database
    .all<[string]>(`${SELECT_ARGUMENTS} WHERE c.id >= ? AND c.id < ? ORDER BY c.id`, span(key))
    .map(([text]) => text);
}

/** Arguments of the call at a position as the column has them; null where the turn has none. */
export function readArgumentsAt(database: SqliteDatabase, key: number, position: number): string | null {
  const row = database.get<[string]>(`${SELECT_ARGUMENTS} WHERE c.id = ?`, [key * CALLS_MAX + position]);
  return row === null ? null : row[0];
}

/** A result as its row has it. */
export interface ResultColumns {
  result: string;
  details: string | null;
}

/** Results of a turn by callId; null where one is beyond `maxBytes` in all, and is not even read. */
export function readResults(
  database: SqliteDatabase,
  key: number,
  maxBytes: number,
): Map<string, (() => ResultColumns) | null> {
  const sizes = database.all<[number, string, number]>(
    `SELECT id, call_id, ${bytesOf('result')} + coalesce(${bytesOf('details')}, 0)
     FROM turn_results WHERE id >= ? AND id < ? AND result <> '${NO_RESULT}' ORDER BY id`,
    span(key),
  );
  let left = maxBytes;
  return new Map(
    sizes.map(([id, callId, bytes]) => {
      if (bytes > left) return [callId, null];
      left -= bytes;
      return [callId, () => readResult(database, id)];
    }),
  );
}

function readResult(database: SqliteDatabase, id: number): ResultColumns {
  const sql = 'SELECT result, details FROM turn_results WHERE id = ?';
  const [result, details] = database.get<[string, string | null]>(sql, [id])!;
  return { result, details };
}

/** What is told of the end of a call; null where nothing is. */
export function readResultOf(database: SqliteDatabase, key: number, callId: string): ResultColumns | null {
  const sql = `SELECT id FROM turn_results WHERE id >= ? AND id < ? AND call_id = ? AND result <> '${NO_RESULT}'`;
  const row = database.get<[number]>(sql, [...span(key), callId]);
  return row === null ? null : readResult(database, row[0]);
}

/** Keys of the turns that have this call: one, but for what came about elsewhere. */
export function keysOfCall(database: SqliteDatabase, callId: string): number[] {
  const found = database.all<[number]>('SELECT id FROM turn_calls WHERE call_id = ?', [callId]);
  return found.map(([id]) => Math.floor(id / CALLS_MAX));
}

/** The edited arguments of a call; null where it has none. */
export function readEditedArguments(database: SqliteDatabase, key: number, callId: string): string | null {
  const row = database.get<[string | null]>(
    'SELECT edited_arguments FROM turn_results WHERE id >= ? AND id < ? AND call_id = ?',
    [...span(key), callId],
  );
  return row === null ? null : row[0];
}

function span(key: number): [number, number] {
  return [key * CALLS_MAX, (key + 1) * CALLS_MAX];
}
