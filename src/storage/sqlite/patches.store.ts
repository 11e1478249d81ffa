import { Injectable } from '@nestjs/common';
import { type PatchBatchRecord, PatchStore } from '../ports/patches.store.js';
import { SqliteDatabase } from './database.js';
import type { SqlValue } from './values.js';
import { WorkspaceKeys } from './workspace-keys.js';

@Injectable()
export class SqlitePatchStore extends PatchStore {
  constructor(
    private readonly database: SqliteDatabase,
    private readonly workspaces: WorkspaceKeys,
  ) {
    super();
  }

  async insert(record: PatchBatchRecord): Promise<void> {
    const workspace = this.workspaces.require(record.workspaceId);
    const { batchId, sessionId, turnId, createdAt } = record;
    const parts = record.batch.files.flatMap(({ filePatchId, changes }) => [
      filePatchId!,
      ...changes.map(({ changeId }) => changeId!),
    ]);
    await this.database.write(() => {
      const { changes, lastInsertRowid } = this.database.run(
        `INSERT INTO patch_batches (workspace, batch_id, session_id, turn_id, created_at, record)
         VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
        [workspace, batchId, sessionId, turnId, createdAt, JSON.stringify(record)],
      );
      if (changes === 0) return;
      const key = Number(lastInsertRowid);
      for (const part of parts) {
        this.database.run('INSERT INTO patch_parts (part_id, batch) VALUES (?, ?)', [part, key]);
      }
    });
  }

  async byId(workspaceId: string, batchId: string): Promise<PatchBatchRecord | null> {
    return this.select(workspaceId, 'batch_id = ?', batchId);
  }

  async ofFilePatch(workspaceId: string, filePatchId: string): Promise<PatchBatchRecord | null> {
    const record = this.ofPart(workspaceId, filePatchId);
    return record?.batch.files.some((file) => file.filePatchId === filePatchId) ? record : null;
  }

  async ofChange(workspaceId: string, changeId: string): Promise<PatchBatchRecord | null> {
    const record = this.ofPart(workspaceId, changeId);
    return record?.batch.files.some((file) => file.filePatchId === changeId) ? null : record;
  }

  async remove(workspaceId: string, batchId: string): Promise<void> {
    const workspace = this.workspaces.require(workspaceId);
    await this.database.write(() => this.drop('workspace = ? AND batch_id = ?', [workspace, batchId]));
  }

  async removeOrphans(before: number): Promise<void> {
    const orphaned = `created_at < ? AND NOT EXISTS (SELECT 1 FROM turns WHERE turns.workspace = patch_batches.workspace
      AND turns.turn_id = patch_batches.turn_id AND turns.session_id = patch_batches.session_id)`;
    await this.database.write(() => this.drop(orphaned, [before]));
  }

  private drop(where: string, parameters: readonly SqlValue[]): void {
    const batches = `SELECT id FROM patch_batches WHERE ${where}`;
    this.database.run(`DELETE FROM patch_parts WHERE batch IN (${batches})`, parameters);
    this.database.run(`DELETE FROM patch_batches WHERE ${where}`, parameters);
  }

  private ofPart(workspaceId: string, partId: string): PatchBatchRecord | null {
    return this.select(workspaceId, 'id = (SELECT batch FROM patch_parts WHERE part_id = ?)', partId);
  }

  private select(workspaceId: string, where: string, id: string): PatchBatchRecord | null {
    const workspace = this.workspaces.find(workspaceId);
    if (workspace === null) return null;
    const row = this.database.get<[string]>(
      `SELECT record FROM patch_batches WHERE workspace = ? AND ${where}`,
      [workspace, id],
    );
    return row === null ? null : (JSON.parse(row[0]) as PatchBatchRecord);
  }
}
