import { notMember } from '../../common/domain-error.js';
import type { SqliteDatabase } from './database.js';

/** Members that are remembered. */
const MAX_KNOWN = 10_000;

/** Call it in the job of a write: rolls it back with FORBIDDEN unless the user is a member at the commit. */
export function requireMember(database: SqliteDatabase, workspace: number, userId: string): void {
  database.part(KnownMembers).require(workspace, userId);
}

/** Members that a job has seen. Forgotten by each write of members, and by a rollback. */
export class KnownMembers {
  private readonly known = new Set<string>();

  constructor(private readonly database: SqliteDatabase) {
    database.onRollback(() => this.forget());
  }

  require(workspace: number, userId: string): void {
    const member = `${workspace}/${userId}`;
    if (this.known.has(member)) return;
    const sql = 'SELECT 1 FROM members WHERE workspace = ? AND user_id = ?';
    if (this.database.get(sql, [workspace, userId]) === null) throw notMember();
    if (this.known.size >= MAX_KNOWN) this.forget();
    this.known.add(member);
  }

  forget(): void {
    this.known.clear();
  }
}
