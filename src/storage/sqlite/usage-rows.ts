import { isSame, type UsageDifference } from '../transfer/usage-tally.js';
import type { WholeUsage } from '../transfer/records.js';
import type { Usage } from '../ports/usage.store.js';
import type { SqliteDatabase } from './database.js';

const MORE = `bytes = bytes + excluded.bytes, files = files + excluded.files,
  versions = versions + excluded.versions, sessions = sessions + excluded.sessions`;
const ADD = `INSERT INTO usage (workspace_id, bytes, files, versions, sessions) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (workspace_id) DO UPDATE SET ${MORE}`;
const ADD_OF_MEMBER = `INSERT INTO member_usage (user_id, workspace_id, bytes, files, versions, sessions)
  VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (user_id, workspace_id) DO UPDATE SET ${MORE}`;

/** Counts what a write adds or removes, for the workspace and a user in it; call it in the write's job. */
export function count(
  database: SqliteDatabase,
  workspaceId: string,
  userId: string,
  { bytes = 0, files = 0, versions = 0, sessions = 0 }: Partial<Usage>,
): void {
  const more = [bytes, files, versions, sessions];
  database.run(ADD, [workspaceId, ...more]);
  database.run(ADD_OF_MEMBER, [userId, workspaceId, ...more]);
}

export type Columns = [bytes: number, files: number, versions: number, sessions: number];

/** The counted usage of a workspace. */
function usageIn(database: SqliteDatabase, workspaceId: string): WholeUsage {
  const [ofAll, ofMembers] = ['usage', 'member_usage'].map(
    (table) => `bytes, files, versions, sessions FROM ${table} WHERE workspace_id = ?`,
  );
  const all = database.get<Columns>(`SELECT ${ofAll}`, [workspaceId]);
  const members = database
    .all<[string, ...Columns]>(`SELECT user_id, ${ofMembers}`, [workspaceId])
    .map(([userId, ...own]) => ({ userId, ...usageFrom(own) }));
  return { workspaceId, ...usageFrom(all), members };
}

/** Sets the usage of a workspace to what it holds; false if the counts have changed since. */
export function setUsage(
  database: SqliteDatabase,
  { workspaceId, counted, held }: UsageDifference,
): Promise<boolean> {
  return database.write(() => {
    if (!isSame(counted, usageIn(database, workspaceId))) return false;
    for (const table of ['usage', 'member_usage'])
      database.run(`DELETE FROM ${table} WHERE workspace_id = ?`, [workspaceId]);
    for (const { userId, ...own } of held.members) count(database, workspaceId, userId, own);
    return true;
  });
}

/** Zero for a missing row. */
export function usageFrom(row: Columns | null): Usage {
  const [bytes, files, versions, sessions] = row ?? [0, 0, 0, 0];
  return { bytes, files, versions, sessions };
}
