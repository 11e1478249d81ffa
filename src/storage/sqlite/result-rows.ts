import type { Turn } from '../ports/turn.js';
import { positionOf } from '../ports/turn-calls.js';
import { callKey, CALLS_MAX, span } from './call-rows.js';
import type { SqliteDatabase } from './database.js';
import { isSmallResult, type ResultRow } from './small-turns.js';

/** Stands for a missing result of a call with edited arguments. */
const NO_RESULT = '';

const SET_RESULT = `UPDATE turn_calls SET result = ?, details = ? WHERE id = ? AND result IS NULL
  AND NOT EXISTS (SELECT 1 FROM turn_results r WHERE r.id = turn_calls.id AND r.result <> '${NO_RESULT}')`;

const INSERT_RESULT = `INSERT INTO turn_results (id, call_id, result, details, edited_arguments)
  SELECT ?, ?, ?, ?, ? WHERE NOT EXISTS (SELECT 1 FROM turn_calls c WHERE c.id = ? AND c.result IS NOT NULL)
  ON CONFLICT (id) DO UPDATE SET result = excluded.result, details = excluded.details
    WHERE result = '${NO_RESULT}' AND excluded.result <> '${NO_RESULT}' AND excluded.edited_arguments IS NULL`;

/**
 * Inserts results of a turn's calls, or their edited arguments first; an existing one fails the write.
 * @param isOneRow whether the calls have no rows of their own
 */
export function insertResults(
  database: SqliteDatabase,
  key: number,
  turn: Turn,
  results: readonly ResultRow[],
  isOneRow: boolean,
): void {
  for (const row of results) {
    const { callId, result, details, editedArguments } = row;
    const position = positionOf(turn.calls, callId);
    if (position === -1) throw new Error(`Turn ${turn.turnId} has no call ${callId}.`);
    const id = callKey(key, position);
    const { changes } =
      !isOneRow && isSmallResult(row)
        ? database.run(SET_RESULT, [result, details, id])
        : database.run(INSERT_RESULT, [id, callId, result ?? NO_RESULT, details, editedArguments, id]);
    if (changes === 0) throw new Error(`Call ${callId} has a result already.`);
  }
}

/** The columns of a result. */
export interface ResultColumns {
  result: string;
  details: string | null;
}

/** Stored results of calls that have rows of their own: a small one is in the call's row, a large one in its own. */
const RESULTS = `SELECT c.id, c.call_id, c.result, c.details FROM turn_calls c
    WHERE c.id >= ? AND c.id < ? AND c.result IS NOT NULL
  UNION ALL SELECT r.id, r.call_id, NULL, NULL FROM turn_results r
    WHERE r.id >= ? AND r.id < ? AND r.result <> '${NO_RESULT}'`;

/** Whether the row of `turns` has results in rows of their own. */
export const HAS_RESULT_ROWS = `EXISTS (SELECT 1 FROM turn_results r WHERE r.id >= turns.id * ${CALLS_MAX}
  AND r.id < (turns.id + 1) * ${CALLS_MAX} AND r.result <> '${NO_RESULT}')`;

/** Results of a turn by callId, but for those in its own row. Large ones are read on demand. */
export function readResults(database: SqliteDatabase, key: number): Map<string, () => ResultColumns> {
  const found = database.all<[number, string, string | null, string | null]>(RESULTS, [
    ...span(key),
    ...span(key),
  ]);
  return new Map(
    found.map(([id, callId, result, details]) => [
      callId,
      result === null ? () => readLarge(database, id) : () => ({ result, details }),
    ]),
  );
}

function readLarge(database: SqliteDatabase, id: number): ResultColumns {
  const sql = 'SELECT result, details FROM turn_results WHERE id = ?';
  const [result, details] = database.get<[string, string | null]>(sql, [id])!;
  return { result, details };
}

/** The edited arguments of a call; null if it has none. */
export function readEditedArguments(database: SqliteDatabase, key: number, callId: string): string | null {
  const row = database.get<[string | null]>(
    'SELECT edited_arguments FROM turn_results WHERE id >= ? AND id < ? AND call_id = ?',
    [...span(key), callId],
  );
  return row === null ? null : row[0];
}
