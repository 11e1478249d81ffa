import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import type { CloudChange, Role } from '@patchbay/protocol';
import { type WorkspaceRecord, WorkspaceStore } from '../ports/workspaces.store.js';
import { SqliteDatabase } from './database.js';
import { WorkspaceKeys } from './workspace-keys.js';

type WorkspaceRow = [number, string, string, string, number, number];

const SELECT = 'SELECT w.id, w.workspace_id, w.name, w.approvals, w.created_at, w.version FROM workspaces w';

@Injectable()
export class SqliteWorkspaceStore extends WorkspaceStore {
  constructor(
    private readonly database: SqliteDatabase,
    private readonly workspaces: WorkspaceKeys,
  ) {
    super();
  }

  insert(workspace: WorkspaceRecord): Promise<void> {
    return this.database.write(() => {
      const { changes, lastInsertRowid } = this.database.run(
        `INSERT INTO workspaces (workspace_id, name, approvals, created_at, version) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT DO NOTHING`,
        [
          workspace.id,
          workspace.name,
          JSON.stringify(workspace.approvals),
          workspace.createdAt,
          workspace.version,
        ],
      );
      if (changes === 1) this.insertMembers(Number(lastInsertRowid), workspace);
    });
  }

  save(workspace: WorkspaceRecord, expectedVersion: number): Promise<boolean> {
    return this.database.write(() => {
      const row = this.database.get<[number]>(
        'SELECT id FROM workspaces WHERE workspace_id = ? AND version = ?',
        [workspace.id, expectedVersion],
      );
      if (row === null) {
        return isDeepStrictEqual(this.find(workspace.id), { ...workspace, version: expectedVersion + 1 });
      }
      this.database.run('UPDATE workspaces SET name = ?, approvals = ?, version = ? WHERE id = ?', [
        workspace.name,
        JSON.stringify(workspace.approvals),
        expectedVersion + 1,
        row[0],
      ]);
      this.database.run('DELETE FROM members WHERE workspace = ?', [row[0]]);
      this.insertMembers(row[0], workspace);
      return true;
    });
  }

  async byId(id: string): Promise<WorkspaceRecord | null> {
    return this.find(id);
  }

  async ofUser(userId: string): Promise<WorkspaceRecord[]> {
    const rows = this.database.all<WorkspaceRow>(
      `${SELECT} JOIN members m ON m.workspace = w.id WHERE m.user_id = ? ORDER BY w.created_at, w.id`,
      [userId],
    );
    return rows.map((row) => this.withMembers(row));
  }

  async roleOf(workspaceId: string, userId: string): Promise<Role | null> {
    const workspace = this.workspaces.find(workspaceId);
    if (workspace === null) return null;
    const row = this.database.get<[Role]>('SELECT role FROM members WHERE workspace = ? AND user_id = ?', [
      workspace,
      userId,
    ]);
    return row === null ? null : row[0];
  }

  private find(id: string): WorkspaceRecord | null {
    const row = this.database.get<WorkspaceRow>(`${SELECT} WHERE w.workspace_id = ?`, [id]);
    return row === null ? null : this.withMembers(row);
  }

  private insertMembers(key: number, workspace: WorkspaceRecord): void {
    workspace.members.forEach((member, position) => {
      this.database.run(
        'INSERT INTO members (workspace, user_id, role, added_at, position) VALUES (?, ?, ?, ?, ?)',
        [key, member.userId, member.role, member.addedAt, position],
      );
    });
  }

  private withMembers([key, id, name, approvals, createdAt, version]: WorkspaceRow): WorkspaceRecord {
    const members = this.database
      .all<[string, Role, number]>(
        'SELECT user_id, role, added_at FROM members WHERE workspace = ? ORDER BY position',
        [key],
      )
      .map(([userId, role, addedAt]) => ({ userId, role, addedAt }));
    return { id, name, approvals: JSON.parse(approvals) as CloudChange[], createdAt, version, members };
  }
}
