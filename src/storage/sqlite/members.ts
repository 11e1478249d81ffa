import { notMember } from '../../common/domain-error.js';
import type { SqliteDatabase } from './database.js';

/** Members that are remembered. */
const MAX_KNOWN = 10_000;

/** Call it in the job of a write: rolls it back with FORBIDDEN unless the user is a member at the commit. */
export function requireMember(database: SqliteDatabase, workspace: number, userId: string): void {
  const { members } = database;
  const member = `${workspace}/${userId}`;
  if (members.has(member)) return;
  const sql = 'SELECT 1 FROM members WHERE workspace = ? AND user_id = ?';
  if (database.get(sql, [workspace, userId]) === null) throw notMember();
  if (members.size >= MAX_KNOWN) members.clear();
  members.add(member);
}
