import type { Json } from '@patchbay/protocol';
import { yieldIfBusy } from '../../common/yield-if-busy.js';
import type { CallResult } from '../ports/turns.store.js';
import type { SqliteDatabase } from './database.js';
import { discard, smallColumn, stage, markReferenced } from './large-texts.js';
import type { ResultRow } from './small-turns.js';

/** The result of a write, and whether it refers to its staged texts. */
interface Written<T> {
  value: T;
  isKept: boolean;
}

type Write<T> = (columns: string[], resultRows: ResultRow[]) => Promise<Written<T>>;

/** Stages the large values of a turn's write before its transaction, which nothing can interrupt. */
export class TurnStaging {
  constructor(private readonly database: SqliteDatabase) {}

  /** Runs the write with the columns; removes staged texts that it does not keep. */
  async with<T>(values: readonly Json[], results: readonly CallResult[], write: Write<T>): Promise<T> {
    const stagedColumns: string[] = [];
    let isKept = false;
    try {
      const columns: string[] = [];
      for (const value of values) {
        columns.push(await this.column(value, stagedColumns));
        await yieldIfBusy();
      }
      const resultRows: ResultRow[] = [];
      for (const result of results) resultRows.push(await this.row(result, stagedColumns));
      const outcome = await write(columns, resultRows);
      isKept = outcome.isKept;
      return outcome.value;
    } finally {
      // The next opening of the database removes what cannot be removed now.
      if (!isKept && stagedColumns.length > 0)
        await discard(this.database, stagedColumns).catch(() => undefined);
    }
  }

  private async row(
    { callId, result, details = null, editedArguments = null }: CallResult,
    stagedColumns: string[],
  ): Promise<ResultRow> {
    return {
      callId,
      result: result === undefined ? null : await this.column(result, stagedColumns),
      details: details === null ? null : await this.column(details, stagedColumns),
      editedArguments: editedArguments === null ? null : await this.column(editedArguments, stagedColumns),
    };
  }

  private async column(value: Json, stagedColumns: string[]): Promise<string> {
    const small = smallColumn(value);
    if (small !== null) return small;
    const staged = await stage(this.database, value);
    stagedColumns.push(staged);
    return staged;
  }
}

/** Marks all of these as referenced, in the referencing job. */
export function markAllReferenced(
  database: SqliteDatabase,
  columns: readonly string[],
  resultRows: readonly ResultRow[],
): void {
  const ofResults = resultRows.flatMap(({ result, details, editedArguments }) => [
    ...[result, details, editedArguments],
  ]);
  for (const column of [...columns, ...ofResults]) if (column !== null) markReferenced(database, column);
}
