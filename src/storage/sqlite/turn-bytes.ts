import { HOUR_MS, HOURS_OF_DAY, type HourOfBytes } from '../ports/usage.store.js';
import { SmallAdditions, together } from '../small-additions.js';
import type { SqliteDatabase } from './database.js';

const ADD = `INSERT INTO turn_bytes (user_id, hour, workspace, bytes) VALUES (?, ?, ?, ?)
  ON CONFLICT (user_id, hour, workspace) DO UPDATE SET bytes = bytes + excluded.bytes RETURNING bytes`;
const SUM = 'SELECT hour, sum(bytes) FROM turn_bytes';

/** What a user adds in a workspace. */
interface Added {
  workspace: number;
  userId: string;
  /** When, epoch ms. */
  at: number;
  bytes: number;
}

const smallOf = new WeakMap<SqliteDatabase, SmallAdditions<number>>();

/** Counts bytes of turns; inside the job that writes them, which writes small ones once enough have come together. */
export function countTurnBytes(database: SqliteDatabase, { workspace, userId, at, bytes }: Added): void {
  const hour = Math.floor(at / HOUR_MS);
  for (const due of smallAdditions(database).add({ workspace, userId, hour, bytes })) {
    const added = [due.userId, due.hour, due.workspace, due.bytes];
    const [[total]] = database.all<[number]>(ADD, added) as [[number]];
    // The first of an hour takes away what is no part of the day any more: a user never has more than some rows.
    if (total === due.bytes) {
      const before = [due.userId, due.hour - 2 * HOURS_OF_DAY];
      database.run('DELETE FROM turn_bytes WHERE user_id = ? AND hour <= ?', before);
    }
  }
}

/** What a user has added since the beginning of an hour, in all workspaces, the oldest hour first. */
export function turnBytesOfUser(database: SqliteDatabase, userId: string, since: number): HourOfBytes[] {
  const written = hoursOf(database, 'user_id = ?', userId, since);
  return together(written, smallAdditions(database).ofUser(userId), since);
}

/** What the members of a workspace have added in it since the beginning of an hour, the oldest hour first. */
export function turnBytesOfWorkspace(
  database: SqliteDatabase,
  workspace: number,
  since: number,
): HourOfBytes[] {
  const written = hoursOf(database, 'workspace = ?', workspace, since);
  return together(written, smallAdditions(database).ofWorkspace(workspace), since);
}

function smallAdditions(database: SqliteDatabase): SmallAdditions<number> {
  const known = smallOf.get(database) ?? new SmallAdditions<number>();
  smallOf.set(database, known);
  return known;
}

function hoursOf(
  database: SqliteDatabase,
  whose: string,
  key: string | number,
  since: number,
): HourOfBytes[] {
  return database
    .all<[number, number]>(`${SUM} WHERE ${whose} AND hour >= ? GROUP BY hour`, [key, since])
    .map(([hour, bytes]) => ({ hour, bytes }));
}
