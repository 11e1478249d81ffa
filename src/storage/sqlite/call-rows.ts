import type { Json } from '@patchbay/protocol';
import type { Call } from '../ports/turn.js';
import type { SqliteDatabase } from './database.js';
import { callOfValues } from './turn-texts.js';

/** Range of the integer keys of one turn's calls: they start at the turn's key times this. */
export const CALLS_MAX = 65_536;

/** Arguments up to this length are in the row of their call, which each save rewrites. */
const SMALL_ARGUMENTS = 2048;

const SELECT_ARGUMENTS = `SELECT coalesce(c.arguments, a.arguments) FROM turn_calls c
  LEFT JOIN turn_arguments a ON a.id = c.id`;

/** Inserts the rows of a new turn's calls, with their states and arguments. */
export function insertCalls(
  database: SqliteDatabase,
  key: number,
  calls: readonly Call[],
  states: readonly string[],
  columns: readonly string[],
): void {
  if (calls.length > CALLS_MAX) throw new RangeError(`A turn holds up to ${CALLS_MAX} calls.`);
  calls.forEach((call, position) => {
    const column = columns[position]!;
    const [id, isSmall] = [callKey(key, position), column.length <= SMALL_ARGUMENTS];
    database.run('INSERT INTO turn_calls (id, call_id, state, arguments) VALUES (?, ?, ?, ?)', [
      ...[id, call.callId, states[position]!, isSmall ? column : null],
    ]);
    if (!isSmall) database.run('INSERT INTO turn_arguments (id, arguments) VALUES (?, ?)', [id, column]);
  });
}

/** Updates the calls at these positions. */
export function updateCalls(
  database: SqliteDatabase,
  key: number,
  positions: readonly number[],
  stateAt: (position: number) => string,
): void {
  for (const at of positions)
    database.run('UPDATE turn_calls SET state = ? WHERE id = ?', [stateAt(at), callKey(key, at)]);
}

/** The calls of a turn, in order. */
export function readCalls(database: SqliteDatabase, key: number): Call[] {
  return database
    .all<[string]>('SELECT state FROM turn_calls WHERE id >= ? AND id < ? ORDER BY id', span(key))
    .map(([state]) => callOfValues(JSON.parse(state) as Json));
}

/** Arguments of all calls of a turn as stored, in order. */
export function readArguments(database: SqliteDatabase, key: number): string[] {
  return database
    .all<[string]>(`${SELECT_ARGUMENTS} WHERE c.id >= ? AND c.id < ? ORDER BY c.id`, span(key))
    .map(([text]) => text);
}

/** Arguments of the call at a position as stored; null if there is none. */
export function readArgumentsAt(database: SqliteDatabase, key: number, position: number): string | null {
  const row = database.get<[string]>(`${SELECT_ARGUMENTS} WHERE c.id = ?`, [callKey(key, position)]);
  return row === null ? null : row[0];
}

/** The key of the call at a position of the turn. */
export function callKey(key: number, position: number): number {
  return key * CALLS_MAX + position;
}

/** The key range of the turn's calls: inclusive, exclusive. */
export function span(key: number): [number, number] {
  return [key * CALLS_MAX, (key + 1) * CALLS_MAX];
}
