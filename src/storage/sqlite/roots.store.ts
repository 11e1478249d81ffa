import { Injectable } from '@nestjs/common';
import { type RootRecord, RootStore } from '../ports/roots.store.js';
import { SqliteDatabase } from './database.js';
import { WorkspaceKeys } from './workspace-keys.js';

type RootRow = [docPath: string, name: string, rootId: string, userId: string, claimedAt: number];

const SELECT = 'SELECT doc_path, name, root_id, user_id, claimed_at FROM roots';

@Injectable()
export class SqliteRootStore extends RootStore {
  constructor(
    private readonly database: SqliteDatabase,
    private readonly workspaces: WorkspaceKeys,
  ) {
    super();
  }

  async claim(root: RootRecord): Promise<RootRecord> {
    const { workspaceId, docPath, name, rootId, userId, claimedAt } = root;
    const workspace = this.workspaces.require(workspaceId);
    return this.database.write(() => {
      this.database.run(
        `INSERT INTO roots (workspace, doc_path, name, root_id, user_id, claimed_at)
         VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
        [workspace, docPath, name, rootId, userId, claimedAt],
      );
      const sql = `${SELECT} WHERE workspace = ? AND doc_path = ?`;
      return toRoot(workspaceId, this.database.get<RootRow>(sql, [workspace, docPath])!);
    });
  }

  async remove({ workspaceId, docPath, rootId, claimedAt }: RootRecord): Promise<void> {
    const workspace = this.workspaces.require(workspaceId);
    await this.database.write(() => {
      this.database.run(
        'DELETE FROM roots WHERE workspace = ? AND doc_path = ? AND root_id = ? AND claimed_at = ?',
        [workspace, docPath, rootId, claimedAt],
      );
    });
  }

  async ofWorkspace(workspaceId: string): Promise<RootRecord[]> {
    const workspace = this.workspaces.find(workspaceId);
    if (workspace === null) return [];
    const rows = this.database.all<RootRow>(`${SELECT} WHERE workspace = ? ORDER BY doc_path`, [workspace]);
    return rows.map((row) => toRoot(workspaceId, row));
  }
}

function toRoot(workspaceId: string, row: RootRow): RootRecord {
  const [docPath, name, rootId, userId, claimedAt] = row;
  return { workspaceId, docPath, name, rootId, userId, claimedAt };
}
