import { Injectable } from '@nestjs/common';
import { DomainError } from '../../common/domain-error.js';
import { SqliteDatabase } from './database.js';

/**
 * The small integer key of each workspace in rows. Cached: a workspace keeps its key and is never removed. Look it up
 * before a write, not in its job: an uncommitted key must not be cached.
 */
@Injectable()
export class WorkspaceKeys {
  private readonly keys = new Map<string, number>();
  private readonly ids = new Map<number, string>();

  constructor(private readonly database: SqliteDatabase) {}

  /** The workspace's key; null for an unknown workspace. */
  find(workspaceId: string): number | null {
    const known = this.keys.get(workspaceId);
    if (known !== undefined) return known;
    const row = this.database.get<[number]>('SELECT id FROM workspaces WHERE workspace_id = ?', [
      workspaceId,
    ]);
    if (row === null) return null;
    this.remember(workspaceId, row[0]);
    return row[0];
  }

  /** Throws NOT_FOUND for an unknown workspace. */
  require(workspaceId: string): number {
    const key = this.find(workspaceId);
    if (key === null) throw new DomainError('NOT_FOUND', 'There is no such workspace.');
    return key;
  }

  /** The workspace with this key. */
  idOf(key: number): string {
    const known = this.ids.get(key);
    if (known !== undefined) return known;
    const row = this.database.get<[string]>('SELECT workspace_id FROM workspaces WHERE id = ?', [key]);
    if (row === null) throw new Error(`No workspace has the key ${key}.`);
    this.remember(row[0], key);
    return row[0];
  }

  private remember(workspaceId: string, key: number): void {
    this.keys.set(workspaceId, key);
    this.ids.set(key, workspaceId);
  }
}
