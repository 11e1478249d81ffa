import type { TurnStatus } from '@patchbay/protocol';
import type { Turn, TurnRef } from '../ports/turn.js';
import { changedCalls } from '../ports/turn-calls.js';
import type { OpenTurnName } from '../ports/turns.store.js';
import { insertCalls, readCalls, updateCalls } from './call-rows.js';
import type { SqliteDatabase } from './database.js';
import { HAS_RESULT_ROWS, insertResults, readResults } from './result-rows.js';
import {
  isSmallResult,
  isSmallTurn,
  listOf,
  resultEntries,
  type ResultRow,
  resultsIn,
  valuesIn,
} from './small-turns.js';
import { callOfValues, callText, stateOf, statePath, stateText } from './turn-texts.js';
import type { SqlValue } from './values.js';

/** Selects what `toTurn` reads. */
export const SELECT_TURNS = `SELECT id, workspace, session_id, turn_id, user_id, version, status, accepted_at,
  due_at, request_hash, state, call_states FROM turns`;

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
  requestHash: string,
  state: string,
  callStates: string | null,
];

/** What a save needs to know of the stored row. */
export interface CurrentRow {
  key: number;
  status: string;
  dueAt: number | null;
  /** Whether the turn is one row. */
  isSmall: boolean;
  /** The results in the row; null if there are none yet. */
  results: string | null;
  /** Whether there are results in rows of their own. */
  hasOtherResults: boolean;
}

const INSERT = `INSERT INTO turns (workspace, session_id, turn_id, user_id, version, status, accepted_at, due_at,
  request_hash, calls, state, call_states, arguments, results) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (turn_id, session_id, workspace) DO NOTHING`;

/** The aggregate as it was stored. */
export function toTurn(database: SqliteDatabase, workspaceId: string, row: TurnRow): Turn {
  const [id, , sessionId, turnId, userId, version, status, acceptedAt, dueAt, ...rest] = row;
  const [requestHash, state, callStates] = rest;
  return {
    ...{ workspaceId, sessionId, turnId, userId, version, status, acceptedAt, dueAt, requestHash },
    ...stateOf(state),
    calls: callStates === null ? readCalls(database, id) : valuesIn(callStates).map(callOfValues),
  };
}

/**
 * Inserts a new turn with its calls, their arguments, and results of calls that have ended. Returns its key; null if
 * there is a turn of this name.
 */
export function insertTurn(
  database: SqliteDatabase,
  workspace: number,
  turn: Turn,
  columns: readonly string[],
  results: readonly ResultRow[],
): number | null {
  const isSmall = isSmallTurn(columns);
  const states = turn.calls.map(callText);
  const inRow = isSmall ? results.filter(isSmallResult) : [];
  const { changes, lastInsertRowid } = database.run(INSERT, [
    ...[workspace, turn.sessionId, turn.turnId, turn.userId, turn.version, turn.status, turn.acceptedAt],
    ...[turn.dueAt, turn.requestHash, turn.calls.length, stateText(turn)],
    ...(isSmall ? [listOf(states), listOf(columns), resultEntries(turn, inRow, null)] : [null, null, null]),
  ]);
  if (changes === 0) return null;
  const key = Number(lastInsertRowid);
  if (!isSmall) insertCalls(database, key, turn.calls, states, columns);
  insertResults(database, key, turn, others(results, inRow), isSmall);
  return key;
}

/** The row of a turn if it has this version, else null. */
export function currentRow(
  database: SqliteDatabase,
  workspace: number,
  { turnId, sessionId }: TurnRef,
  version: number,
): CurrentRow | null {
  const row = database.get<[number, string, number | null, 0 | 1, string | null, 0 | 1]>(
    `SELECT id, status, due_at, call_states IS NOT NULL, results, ${HAS_RESULT_ROWS} FROM turns
     WHERE workspace = ? AND turn_id = ? AND session_id = ? AND version = ?`,
    [workspace, turnId, sessionId, version],
  );
  if (row === null) return null;
  const [key, status, dueAt, isSmall, results, hasOtherResults] = row;
  return { key, status, dueAt, isSmall: isSmall === 1, results, hasOtherResults: hasOtherResults === 1 };
}

/** Writes the changes of a turn, and its new results. SQLite rewrites the index of every named column. */
export function updateTurn(
  database: SqliteDatabase,
  current: CurrentRow,
  before: Turn,
  turn: Turn,
  results: readonly ResultRow[],
): void {
  const { key, isSmall } = current;
  const columns = ['version', 'state'];
  const values: SqlValue[] = [turn.version, stateText(turn)];
  const set = (column: string, value: SqlValue): void => {
    columns.push(column);
    values.push(value);
  };
  if (turn.dueAt !== current.dueAt) set('due_at', turn.dueAt);
  if (turn.status !== current.status) set('status', turn.status);
  const changed = changedCalls(before, turn);
  if (isSmall && changed.length > 0) set('call_states', listOf(turn.calls.map(callText)));
  const inRow = isSmall ? results.filter(isSmallResult) : [];
  if (isSmall) requireNoResults(database, current, turn, results);
  if (inRow.length > 0) set('results', resultEntries(turn, inRow, current.results));
  const assignments = columns.map((column) => `${column} = ?`).join(', ');
  database.run(`UPDATE turns SET ${assignments} WHERE id = ?`, [...values, key]);
  if (!isSmall) updateCalls(database, key, changed, (at) => callText(turn.calls[at]!));
  insertResults(database, key, turn, others(results, inRow), isSmall);
}

export type ValueColumn = 'arguments' | 'results';

/** Values in the row of a turn; `callStates` and `values` are null if each call has a row. */
export interface ValueRow {
  key: number;
  callStates: string | null;
  values: string | null;
  /** Whether there are results in rows of their own. */
  hasOtherResults: boolean;
}

/** What the row of a turn has of the values of its calls. */
export function valueRow(
  database: SqliteDatabase,
  workspace: number,
  column: ValueColumn,
  { turnId, sessionId }: TurnRef,
): ValueRow | null {
  const sql = `SELECT id, call_states, ${column}, ${HAS_RESULT_ROWS} FROM turns
    WHERE workspace = ? AND turn_id = ? AND session_id = ?`;
  type Row = [number, string | null, string | null, 0 | 1];
  const row = database.get<Row>(sql, [workspace, turnId, sessionId]);
  if (row === null) return null;
  const [key, callStates, values, hasOtherResults] = row;
  return { key, callStates, values, hasOtherResults: hasOtherResults === 1 };
}

/** Those of these turns that are open, oldest first, after the turn `afterKey`; `limit` -1: all. */
export function openNames(
  database: SqliteDatabase,
  keys: readonly number[],
  afterKey: number | null,
  limit: number,
): Omit<OpenTurnName, 'workspaceId'>[] {
  const after =
    afterKey === null ? '' : 'AND (accepted_at, id) > (SELECT accepted_at, id FROM turns WHERE id = ?)';
  const found = database.all<[string, string, string, number, number, 1 | null]>(
    `SELECT session_id, turn_id, user_id, version, accepted_at, json_extract(state, '${statePath('direct')}') FROM turns
     WHERE id IN (SELECT value FROM json_each(?)) AND status = 'open' ${after} ORDER BY accepted_at, id LIMIT ?`,
    [JSON.stringify(keys), ...(afterKey === null ? [] : [afterKey]), limit],
  );
  return found.map(([sessionId, turnId, userId, version, acceptedAt, direct]) => ({
    ...{ sessionId, turnId, userId, version, acceptedAt },
    ...(direct === 1 && { direct: true as const }),
  }));
}

/** The key of the turn's row; null if it has none. */
export function turnRowKey(database: SqliteDatabase, workspace: number, ref: TurnRef): number | null {
  const row = database.get<[number]>(
    'SELECT id FROM turns WHERE workspace = ? AND turn_id = ? AND session_id = ?',
    [workspace, ref.turnId, ref.sessionId],
  );
  return row === null ? null : row[0];
}

/** Throws if one of the calls has a result already; for a turn of one row. */
function requireNoResults(
  database: SqliteDatabase,
  { key, results: inRow, hasOtherResults }: CurrentRow,
  turn: Turn,
  results: readonly ResultRow[],
): void {
  if (inRow === null && !hasOtherResults) return;
  const known = new Set([...resultsIn(inRow).keys()].map((position) => turn.calls[position]!.callId));
  for (const callId of readResults(database, key).keys()) known.add(callId);
  const twice = results.find(({ callId }) => known.has(callId));
  if (twice !== undefined) throw new Error(`Call ${twice.callId} has a result already.`);
}

function others(results: readonly ResultRow[], inRow: readonly ResultRow[]): readonly ResultRow[] {
  return inRow.length === 0 ? results : results.filter((result) => !inRow.includes(result));
}
