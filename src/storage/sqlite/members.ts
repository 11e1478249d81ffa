import { notMember } from '../../common/domain-error.js';
import type { SqliteDatabase } from './database.js';

/** Part of the job of a write: undoes it with FORBIDDEN unless the user is a member of the workspace as it commits. */
export function requireMember(database: SqliteDatabase, workspace: number, userId: string): void {
  const sql = 'SELECT 1 FROM members WHERE workspace = ? AND user_id = ?';
  if (database.get(sql, [workspace, userId]) === null) throw notMember();
}
