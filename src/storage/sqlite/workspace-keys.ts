import { Injectable } from '@nestjs/common';
import { DomainError } from '../../common/domain-error.js';
import { SqliteDatabase } from './database.js';

/**
 * The small integer that stands for a workspace in every row. Kept in memory: a workspace keeps its key and is never
 * removed. Look it up before a write, not in its job: a key that is not committed yet must not be kept.
 */
@Injectable()
export class WorkspaceKeys {
  private readonly keys = new Map<string, number>();
  private readonly ids = new Map<number, string>();

  constructor(private readonly database: SqliteDatabase) {}

  /** The workspace's key; null where there is no such workspace. */
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

  /** The same for a write, which cannot go on without one. */
  require(workspaceId: string): number {
    const key = this.find(workspaceId);
    if (key === null) throw new DomainError('NOT_FOUND', 'There is no such workspace.');
    return key;
  }

  /** The workspace that a row's key stands for. */
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
