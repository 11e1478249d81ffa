import type { Json } from '@patchbay/protocol';
import type { Turn } from '../ports/turn.js';
import { positionOf } from '../ports/turn-calls.js';
import { isStaged } from './large-texts.js';

/** A turn of at most this many calls is one row, if its arguments have at most this many characters. */
const FEW_CALLS = 4;
const SMALL_ARGUMENTS = 2048;
/** A result with its details is in that row, or in that of its call, if it has at most this many characters. */
const SMALL_RESULT = 1024;

/** The result of a call as columns store it; `result` null: only edited arguments so far. */
export interface ResultRow {
  callId: string;
  result: string | null;
  details: string | null;
  editedArguments: string | null;
}

/** A result in the row of its turn; details are absent if there are none. */
type ResultEntry = [position: number, result: Json, details?: Json];

/** Whether a turn with these arguments is one row. */
export function isSmallTurn(columns: readonly string[]): boolean {
  const length = columns.reduce((sum, column) => sum + column.length, 0);
  return columns.length <= FEW_CALLS && length <= SMALL_ARGUMENTS && !columns.some(isStaged);
}

/** Whether a result belongs in the row of its turn, if that is one row, or of its call: both are written anyway. */
export function isSmallResult({ result, details, editedArguments }: ResultRow): boolean {
  if (
    result === null ||
    editedArguments !== null ||
    isStaged(result) ||
    (details !== null && isStaged(details))
  )
    return false;
  return result.length + (details?.length ?? 0) <= SMALL_RESULT;
}

/** A JSON list of values that are JSON. */
export function listOf(texts: readonly string[]): string {
  return `[${texts.join(',')}]`;
}

/** The values of such a list. */
export function valuesIn(list: string): Json[] {
  return JSON.parse(list) as Json[];
}

/** The column with the stored results and these; null without any. */
export function resultEntries(
  turn: Turn,
  results: readonly ResultRow[],
  stored: string | null,
): string | null {
  const entries = results.map(({ callId, result, details }) => {
    const position = positionOf(turn.calls, callId);
    if (position === -1) throw new Error(`Turn ${turn.turnId} has no call ${callId}.`);
    return listOf([String(position), result!, ...(details === null ? [] : [details])]);
  });
  return [...(stored === null ? [] : [stored]), ...entries].join(',') || null;
}

/** The results of that column by the position of their call. */
export function resultsIn(stored: string | null): Map<number, { result: Json; details: Json }> {
  const entries = stored === null ? [] : (JSON.parse(`[${stored}]`) as ResultEntry[]);
  return new Map(entries.map(([position, result, details = null]) => [position, { result, details }]));
}
