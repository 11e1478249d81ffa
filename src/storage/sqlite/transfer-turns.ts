import { valueOf } from '../../common/json-text.js';
import type { CallValues, WholeTurn } from '../transfer/records.js';
import { resultsOf } from '../transfer/results.js';
import { span } from './call-rows.js';
import type { SqliteDatabase } from './database.js';
import { readJson } from './large-texts.js';
import { pages } from './pages.js';
import { insertResults } from './result-rows.js';
import { insertTurn, SELECT_TURNS, toTurn, type TurnRow } from './turn-rows.js';
import { markAllReferenced, TurnStaging } from './turn-staging.js';
import type { WorkspaceKeys } from './workspace-keys.js';

/** The stored values of a turn's calls, in order: each in the row of its call, or in its own. */
const VALUES = `SELECT coalesce(c.arguments, a.arguments), coalesce(c.result, nullif(r.result, '')),
    coalesce(c.details, r.details), r.edited_arguments
  FROM turn_calls c LEFT JOIN turn_arguments a ON a.id = c.id LEFT JOIN turn_results r ON r.id = c.id
  WHERE c.id >= ? AND c.id < ? ORDER BY c.id`;

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
      const key = insertTurn(database, workspace, turn, columns);
      insertResults(database, key, turn, resultRows);
      markAllReferenced(database, columns, resultRows);
      return { value: undefined, isKept: true };
    }),
  );
}

async function valuesOf(database: SqliteDatabase, key: number): Promise<CallValues[]> {
  const rows = database.all<[string, Text, Text, Text]>(VALUES, span(key));
  const valueIn = async (column: string) => valueOf(await readJson(database, column));
  const values: CallValues[] = [];
  for (const [given, result, details, edited] of rows) {
    values.push({
      arguments: await valueIn(given),
      ...(result !== null && { result: await valueIn(result) }),
      ...(details !== null && { details: await valueIn(details) }),
      ...(edited !== null && { editedArguments: await valueIn(edited) }),
    });
  }
  return values;
}
