import type { Usage } from '../ports/usage.store.js';
import type { SqliteDatabase } from './database.js';

const MORE = `bytes = bytes + excluded.bytes, files = files + excluded.files,
  versions = versions + excluded.versions, sessions = sessions + excluded.sessions`;
const ADD = `INSERT INTO usage (scope, bytes, files, versions, sessions) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (scope) DO UPDATE SET ${MORE}`;
const ADD_OF_MEMBER = `INSERT INTO member_usage (user_id, workspace_id, bytes, files, versions, sessions)
  VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (user_id, workspace_id) DO UPDATE SET ${MORE}`;

/** Counts what a write adds, or takes away, for the workspace and for a user in it; inside the write's job. */
export function count(
  database: SqliteDatabase,
  workspaceId: string,
  userId: string | null,
  { bytes = 0, files = 0, versions = 0, sessions = 0 }: Partial<Usage>,
): void {
  const more = [bytes, files, versions, sessions];
  database.run(ADD, [workspaceId, ...more]);
  if (userId !== null) database.run(ADD_OF_MEMBER, [userId, workspaceId, ...more]);
}
