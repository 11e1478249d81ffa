import { Injectable } from '@nestjs/common';
import { type Usage, UsageCounts, UsageStore } from '../ports/usage.store.js';
import { SqliteDatabase } from './database.js';
import { type Columns, count, usageFrom } from './usage-rows.js';

const OF_WORKSPACE = 'SELECT bytes, files, versions, sessions FROM usage WHERE workspace_id = ?';
const OF_USER = `SELECT coalesce(sum(u.bytes), 0), coalesce(sum(u.files), 0), coalesce(sum(u.versions), 0),
    coalesce(sum(u.sessions), 0)
  FROM member_usage u CROSS JOIN workspaces w ON w.workspace_id = u.workspace_id
  WHERE u.user_id = ? AND (w.created_by = u.user_id
    OR EXISTS (SELECT 1 FROM members m WHERE m.workspace = w.id AND m.user_id = u.user_id))`;
/** Bytes that former members left in the workspaces that a user created. */
const LEFT_BYTES = `SELECT coalesce(sum(u.bytes), 0)
  FROM workspaces w CROSS JOIN member_usage u ON u.workspace_id = w.workspace_id AND u.bytes > 0
  WHERE w.created_by = ? AND u.user_id <> w.created_by
    AND NOT EXISTS (SELECT 1 FROM members m WHERE m.workspace = w.id AND m.user_id = u.user_id)`;

@Injectable()
export class SqliteUsageStore extends UsageStore {
  constructor(private readonly database: SqliteDatabase) {
    super();
  }

  async ofWorkspace(workspaceId: string): Promise<Usage> {
    return usageFrom(this.database.get<Columns>(OF_WORKSPACE, [workspaceId]));
  }

  async ofUser(userId: string): Promise<Usage> {
    const own = usageFrom(this.database.get<Columns>(OF_USER, [userId]));
    const left = this.database.get<[number]>(LEFT_BYTES, [userId])![0];
    return { ...own, bytes: own.bytes + left };
  }
}

@Injectable()
export class SqliteUsageCounts extends UsageCounts {
  constructor(private readonly database: SqliteDatabase) {
    super();
  }

  count(workspaceId: string, userId: string, more: Partial<Usage>): Promise<void> {
    return this.database.write(() => count(this.database, workspaceId, userId, more));
  }
}
