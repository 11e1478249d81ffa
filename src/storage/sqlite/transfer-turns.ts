import type { Json } from '@patchbay/protocol';
import { valueOf } from '../../common/json-text.js';
import type { CallValues, WholeTurn } from '../transfer/records.js';
import { resultsOf } from '../transfer/results.js';
import { span } from './call-rows.js';
import type { SqliteDatabase } from './database.js';
import { readJson } from './large-texts.js';
import { pages } from './pages.js';
import { resultsIn, valuesIn } from './small-turns.js';
import { insertTurn, SELECT_TURNS, toTurn, type TurnRow } from './turn-rows.js';
import { markAllReferenced, TurnStaging } from './turn-staging.js';
import type { WorkspaceKeys } from './workspace-keys.js';

/** The stored values of a turn's calls, in order: each in the row of its call, or in its own. */
const VALUES = `SELECT coalesce(c.arguments, a.arguments), coalesce(c.result, nullif(r.result, '')),
    coalesce(c.details, r.details), r.edited_arguments
  FROM turn_calls c LEFT JOIN turn_arguments a ON a.id = c.id LEFT JOIN turn_results r ON r.id = c.id
  WHERE c.id >= ? AND c.id < ? ORDER BY c.id`;

/** The results of a turn of one row that are not in it. */
const LARGE_RESULTS = `SELECT id, nullif(result, ''), details, edited_arguments FROM turn_results
  WHERE id >= ? AND id < ? ORDER BY id`;

type Text = string | null;

/** Every turn, one at a time: a turn may have tens of megabytes. */
export async function* readTurns(
  database: SqliteDatabase,
  workspaces: WorkspaceKeys,
): AsyncGenerator<WholeTurn[]> {
  for await (const rows of pages<TurnRow>(database, SELECT_TURNS, ['id'], 100)) {
    for (const row of rows) {
      const turn = toTurn(database, workspaces.idOf(row[1]), row);
      yield [{ ...turn, values: await valuesOf(database, row[0]) }];
    }
  }
}

/** Inserts a turn. */
export async function writeTurn(
  database: SqliteDatabase,
  workspace: number,
  { values, ...turn }: WholeTurn,
): Promise<void> {
  const callArguments = values.map((value) => value.arguments);
  await new TurnStaging(database).with(callArguments, resultsOf(turn, values), (columns, resultRows) =>
    database.write(() => {
      insertTurn(database, workspace, turn, columns, resultRows);
      markAllReferenced(database, columns, resultRows);
      return { value: undefined, isKept: true };
    }),
  );
}

async function valuesOf(database: SqliteDatabase, key: number): Promise<CallValues[]> {
  const sql = 'SELECT arguments, results FROM turns WHERE id = ?';
  const [callArguments, results] = database.get<[Text, Text]>(sql, [key])!;
  const values: CallValues[] = [];
  if (callArguments === null) {
    for (const [given, ...columns] of database.all<[string, Text, Text, Text]>(VALUES, span(key)))
      values.push({ arguments: await valueIn(database, given), ...(await resultIn(database, columns)) });
    return values;
  }
  for (const given of valuesIn(callArguments)) values.push({ arguments: given });
  for (const [position, { result, details }] of resultsIn(results))
    Object.assign(values[position]!, { result, ...(details !== null && { details }) });
  for (const [id, ...columns] of database.all<[number, Text, Text, Text]>(LARGE_RESULTS, span(key)))
    Object.assign(values[id - span(key)[0]]!, await resultIn(database, columns));
  return values;
}

async function resultIn(
  database: SqliteDatabase,
  [result, details, edited]: readonly [Text, Text, Text],
): Promise<Omit<CallValues, 'arguments'>> {
  return {
    ...(result !== null && { result: await valueIn(database, result) }),
    ...(details !== null && { details: await valueIn(database, details) }),
    ...(edited !== null && { editedArguments: await valueIn(database, edited) }),
  };
}

async function valueIn(database: SqliteDatabase, column: string): Promise<Json> {
  return valueOf(await readJson(database, column));
}
