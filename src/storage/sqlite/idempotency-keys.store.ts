import { Injectable } from '@nestjs/common';
import { IdempotencyKeyStore, type KeyClaim } from '../ports/idempotency-keys.store.js';
import { SqliteDatabase } from './database.js';
import { WorkspaceKeys } from './workspace-keys.js';

@Injectable()
export class SqliteIdempotencyKeyStore extends IdempotencyKeyStore {
  constructor(
    private readonly database: SqliteDatabase,
    private readonly workspaces: WorkspaceKeys,
  ) {
    super();
  }

  async claim(claim: KeyClaim, since: number): Promise<KeyClaim> {
    const { workspaceId, userId, key, sessionId, turnId, claimedAt } = claim;
    const workspace = this.workspaces.require(workspaceId);
    return this.database.write(() => {
      this.database.run(
        `INSERT INTO idempotency_keys (workspace, user_id, key, session_id, turn_id, claimed_at)
         VALUES (?, ?, ?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET session_id = excluded.session_id, turn_id = excluded.turn_id,
           claimed_at = excluded.claimed_at WHERE claimed_at < ?`,
        [workspace, userId, key, sessionId, turnId, claimedAt, since],
      );
      return this.read(workspace, workspaceId, userId, key, since)!;
    });
  }

  async find(workspaceId: string, userId: string, key: string, since: number): Promise<KeyClaim | null> {
    const workspace = this.workspaces.find(workspaceId);
    return workspace === null ? null : this.read(workspace, workspaceId, userId, key, since);
  }

  async removeExpired(before: number): Promise<void> {
    await this.database.write(() => {
      this.database.run('DELETE FROM idempotency_keys WHERE claimed_at < ?', [before]);
    });
  }

  private read(
    workspace: number,
    workspaceId: string,
    userId: string,
    key: string,
    since: number,
  ): KeyClaim | null {
    const row = this.database.get<[string, string, number]>(
      `SELECT session_id, turn_id, claimed_at FROM idempotency_keys
       WHERE workspace = ? AND user_id = ? AND key = ? AND claimed_at >= ?`,
      [workspace, userId, key, since],
    );
    if (row === null) return null;
    const [sessionId, turnId, claimedAt] = row;
    return { workspaceId, userId, key, sessionId, turnId, claimedAt };
  }
}
