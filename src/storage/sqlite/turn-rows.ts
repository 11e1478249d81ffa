import type { TurnStatus } from '@patchbay/protocol';
import type { Turn, TurnRef } from '../ports/turn.js';
import { insertCalls, readCalls } from './call-rows.js';
import type { SqliteDatabase } from './database.js';
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

/** The state of a turn without its columns and calls, as JSON. */
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
  return {
    ...{ workspaceId, sessionId, turnId, userId, version, status, acceptedAt, dueAt, lastClientId },
    requestHash,
    ...(JSON.parse(state) as Omit<Turn, Column>),
    calls: readCalls(database, id),
  };
}

/** Inserts the rows of a new turn and its calls, with their arguments, and returns its key. */
export function insertTurn(
  database: SqliteDatabase,
  workspace: number,
  turn: Turn,
  columns: readonly string[],
): number {
  const { lastInsertRowid } = database.run(INSERT, [
    ...[workspace, turn.sessionId, turn.turnId, turn.userId, turn.version, turn.status, turn.acceptedAt],
    ...[turn.dueAt, turn.lastClientId, turn.requestHash, turn.calls.length, stateOf(turn)],
  ]);
  const key = Number(lastInsertRowid);
  insertCalls(database, key, turn.calls, columns);
  return key;
}

/** Writes the changes of a turn; `current` is its row. SQLite rewrites the index of every named column. */
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

/** The key of the turn's row; null if it has none. */
export function turnRowKey(database: SqliteDatabase, workspace: number, ref: TurnRef): number | null {
  const row = database.get<[number]>(
    'SELECT id FROM turns WHERE workspace = ? AND turn_id = ? AND session_id = ?',
    [workspace, ref.turnId, ref.sessionId],
  );
  return row === null ? null : row[0];
}
