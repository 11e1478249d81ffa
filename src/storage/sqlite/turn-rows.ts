import type { Json, TurnStatus } from '@patchbay/protocol';
import type { Turn, TurnRef } from '../ports/turn.js';
import type { CallResult } from '../ports/turns.store.js';
import type { SqliteDatabase } from './database.js';
import type { SqlValue } from './values.js';

/** Selects what `toTurn` reads. */
export const SELECT_TURNS = `SELECT workspace, session_id, turn_id, user_id, version, status, accepted_at,
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
  | 'requestHash';

/** The columns of `SELECT_TURNS`. */
export type TurnRow = [
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
  last_client_id, request_hash, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** Room for the arguments and results of one turn: integer keys from its own times this. */
const CALLS_MAX = 65_536;

/** What of a turn is no column, as JSON. */
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
    ...state
  } = turn;
  return JSON.stringify(state satisfies Omit<Turn, Column>);
}

/** The aggregate as it was stored. */
export function toTurn(workspaceId: string, row: TurnRow): Turn {
  const [, sessionId, turnId, userId, version, status, acceptedAt, dueAt, ...rest] = row;
  const [lastClientId, requestHash, state] = rest;
  const stored = JSON.parse(state) as Omit<Turn, Column | 'folder'> & Partial<Pick<Turn, 'folder'>>;
  return {
    ...{ workspaceId, sessionId, turnId, userId, version, status, acceptedAt, dueAt, lastClientId },
    requestHash,
    ...stored,
    // Older versions have stored none.
    folder: stored.folder ?? null,
  };
}

/** Writes the row of a new turn and returns its key. */
export function insertTurn(database: SqliteDatabase, workspace: number, turn: Turn): number {
  const { lastInsertRowid } = database.run(INSERT, [
    ...[workspace, turn.sessionId, turn.turnId, turn.userId, turn.version, turn.status, turn.acceptedAt],
    ...[turn.dueAt, turn.lastClientId, turn.requestHash, stateOf(turn)],
  ]);
  return Number(lastInsertRowid);
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

/** Writes the arguments of a new turn, one row a call. */
export function insertArguments(database: SqliteDatabase, key: number, callArguments: readonly Json[]): void {
  if (callArguments.length > CALLS_MAX) throw new RangeError(`A turn holds up to ${CALLS_MAX} calls.`);
  callArguments.forEach((value, position) =>
    database.run('INSERT INTO turn_arguments (id, arguments) VALUES (?, ?)', [
      key * CALLS_MAX + position,
      JSON.stringify(value),
    ]),
  );
}

/** Writes results of a turn's calls; one that is there already fails the write. */
export function insertResults(
  database: SqliteDatabase,
  key: number,
  turn: Turn,
  results: readonly CallResult[],
): void {
  for (const { callId, result, editedArguments = null } of results) {
    const position = turn.calls.findIndex((call) => call.callId === callId);
    if (position === -1) throw new Error(`Turn ${turn.turnId} has no call ${callId}.`);
    database.run('INSERT INTO turn_results (id, call_id, result, edited_arguments) VALUES (?, ?, ?, ?)', [
      key * CALLS_MAX + position,
      callId,
      JSON.stringify(result),
      editedArguments === null ? null : JSON.stringify(editedArguments),
    ]);
  }
}

/** Arguments of all calls of a turn, in order. */
export function readArguments(database: SqliteDatabase, key: number): Json[] {
  return database
    .all<[string]>('SELECT arguments FROM turn_arguments WHERE id >= ? AND id < ? ORDER BY id', span(key))
    .map(([text]) => JSON.parse(text) as Json);
}

/** Arguments of the call at a position; undefined where the turn has none. */
export function readArgumentsAt(database: SqliteDatabase, key: number, position: number): Json | undefined {
  const row = database.get<[string]>('SELECT arguments FROM turn_arguments WHERE id = ?', [
    key * CALLS_MAX + position,
  ]);
  return row === null ? undefined : (JSON.parse(row[0]) as Json);
}

/** Results of a turn by callId. */
export function readResults(database: SqliteDatabase, key: number): Map<string, Json> {
  const rows = database.all<[string, string]>(
    'SELECT call_id, result FROM turn_results WHERE id >= ? AND id < ? ORDER BY id',
    span(key),
  );
  return new Map(rows.map(([callId, text]) => [callId, JSON.parse(text) as Json]));
}

/** The edited arguments of a call; null where it has none. */
export function readEditedArguments(database: SqliteDatabase, key: number, callId: string): Json {
  const row = database.get<[string | null]>(
    'SELECT edited_arguments FROM turn_results WHERE id >= ? AND id < ? AND call_id = ?',
    [...span(key), callId],
  );
  return row === null || row[0] === null ? null : (JSON.parse(row[0]) as Json);
}

function span(key: number): [number, number] {
  return [key * CALLS_MAX, (key + 1) * CALLS_MAX];
}
