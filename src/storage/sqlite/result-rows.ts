import type { Turn } from '../ports/turn.js';
import { positionOf } from '../ports/turn-calls.js';
import { callKey, span } from './call-rows.js';
import type { SqliteDatabase } from './database.js';

/** Results with details up to this length are in the row of their call, which is written at the end anyway. */
const SMALL_RESULT = 1024;

/** Stands for a missing result of a call with edited arguments. */
const NO_RESULT = '';

const SET_RESULT = `UPDATE turn_calls SET result = ?, details = ? WHERE id = ? AND result IS NULL
  AND NOT EXISTS (SELECT 1 FROM turn_results r WHERE r.id = turn_calls.id AND r.result <> '${NO_RESULT}')`;

const INSERT_RESULT = `INSERT INTO turn_results (id, call_id, result, details, edited_arguments)
  SELECT id, call_id, ?, ?, ? FROM turn_calls WHERE id = ? AND result IS NULL
  ON CONFLICT (id) DO UPDATE SET result = excluded.result, details = excluded.details
    WHERE result = '${NO_RESULT}' AND excluded.result <> '${NO_RESULT}' AND excluded.edited_arguments IS NULL`;

/** The result of a call as columns store it; `result` null: only edited arguments so far. */
export interface ResultRow {
  callId: string;
  result: string | null;
  details: string | null;
  editedArguments: string | null;
}

/** Inserts results of a turn's calls, or their edited arguments first; an existing one fails the write. */
export function insertResults(
  database: SqliteDatabase,
  key: number,
  turn: Turn,
  results: readonly ResultRow[],
): void {
  for (const { callId, result, details, editedArguments } of results) {
    const position = positionOf(turn.calls, callId);
    if (position === -1) throw new Error(`Turn ${turn.turnId} has no call ${callId}.`);
    const id = callKey(key, position);
    const [text, more] = [result ?? NO_RESULT, details];
    const isSmall = text !== NO_RESULT && text.length + (more?.length ?? 0) <= SMALL_RESULT;
    const { changes } =
      isSmall && editedArguments === null
        ? database.run(SET_RESULT, [text, more, id])
        : database.run(INSERT_RESULT, [text, more, editedArguments, id]);
    if (changes === 0) throw new Error(`Call ${callId} has a result already.`);
  }
}

/** The columns of a result. */
export interface ResultColumns {
  result: string;
  details: string | null;
}

/** Calls with their results: a small one is in the call's row, a large one in its own. */
const RESULTS = `turn_calls c LEFT JOIN turn_results r ON r.id = c.id AND c.result IS NULL
  AND r.result <> '${NO_RESULT}'`;
const HAS_RESULT = '(c.result IS NOT NULL OR r.result IS NOT NULL)';

/** Results of a turn by callId. Large ones are read on demand. */
export function readResults(database: SqliteDatabase, key: number): Map<string, () => ResultColumns> {
  const found = database.all<[number, string, string | null, string | null]>(
    `SELECT c.id, c.call_id, c.result, c.details FROM ${RESULTS}
     WHERE c.id >= ? AND c.id < ? AND ${HAS_RESULT} ORDER BY c.id`,
    span(key),
  );
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

/** The result of a call; null if it has none. */
export function readResultOf(database: SqliteDatabase, key: number, callId: string): ResultColumns | null {
  const row = database.get<[string, string | null]>(
    `SELECT coalesce(c.result, r.result), coalesce(c.details, r.details)
     FROM ${RESULTS} WHERE c.id >= ? AND c.id < ? AND c.call_id = ? AND ${HAS_RESULT}`,
    [...span(key), callId],
  );
  return row && { result: row[0], details: row[1] };
}

/** The edited arguments of a call; null if it has none. */
export function readEditedArguments(database: SqliteDatabase, key: number, callId: string): string | null {
  const row = database.get<[string | null]>(
    'SELECT edited_arguments FROM turn_results WHERE id >= ? AND id < ? AND call_id = ?',
    [...span(key), callId],
  );
  return row === null ? null : row[0];
}
