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
    const docPaths = record.batch.files.map(({ docPath }) => docPath);
    const contents = [JSON.stringify(record), JSON.stringify(docPaths)] as const;
    const ids = JSON.stringify(parts);
    await this.database.write(() => {
      const { changes, lastInsertRowid } = this.database.run(
        `INSERT INTO patch_batches (workspace, batch_id, session_id, turn_id, created_at, record, doc_paths)
         VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
        [workspace, batchId, sessionId, turnId, createdAt, ...contents],
      );
      if (changes === 0) return;
      // One statement, since there may be tens of thousands.
      this.database.run('INSERT INTO patch_parts (part_id, batch) SELECT value, ? FROM json_each(?)', [
        Number(lastInsertRowid),
        ids,
      ]);
    });
  }

  async byId(workspaceId: string, batchId: string): Promise<PatchBatchRecord | null> {
    return this.select(workspaceId, 'batch_id = ?', batchId);
  }

  async docPathsOf(workspaceId: string, batchId: string): Promise<string[]> {
    const workspace = this.workspaces.find(workspaceId);
    if (workspace === null) return [];
    const row = this.database.get<[string]>(
      'SELECT doc_paths FROM patch_batches WHERE workspace = ? AND batch_id = ?',
      [workspace, batchId],
    );
    return row === null ? [] : (JSON.parse(row[0]) as string[]);
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

  // A batch is loose until it was checked here, and is checked only once.
  removeOrphans(before: number, limit: number): Promise<boolean> {
    return this.database.write(() => {
      const loose = this.database.all<[number, number]>(
        `SELECT b.id, EXISTS (SELECT 1 FROM turns t
           WHERE t.workspace = b.workspace AND t.turn_id = b.turn_id AND t.session_id = b.session_id)
         FROM patch_batches b WHERE b.loose = 1 AND b.created_at < ? ORDER BY b.created_at LIMIT ?`,
        [before, limit],
      );
      for (const [id, hasTurn] of loose) {
        if (hasTurn === 1) this.database.run('UPDATE patch_batches SET loose = 0 WHERE id = ?', [id]);
        else this.drop('id = ?', [id]);
      }
      return loose.length === limit;
    });
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
