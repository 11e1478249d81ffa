import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { type CloudChange, MAX_NAMED_OWNERS, type Role } from '@patchbay/protocol';
import {
  type Removal,
  type WorkspaceRecord,
  WorkspaceStore,
  type WorkspaceSummary,
} from '../ports/workspaces.store.js';
import { SqliteDatabase } from './database.js';
import { KnownMembers } from './members.js';
import { WorkspaceKeys } from './workspace-keys.js';

type WorkspaceRow = [
  ...[key: number, id: string, name: string, approvals: string, createdAt: number],
  ...[createdBy: string, version: number],
];

const COLUMNS = 'w.id, w.workspace_id, w.name, w.approvals, w.created_at, w.created_by, w.version';
const SELECT = `SELECT ${COLUMNS} FROM workspaces w`;
const SELECT_OF_MEMBER = `SELECT m.role, ${COLUMNS} FROM members m JOIN workspaces w ON w.id = m.workspace`;
/** Workspaces that the user created come first. */
const ORDER = 'w.created_by IS NOT ?, w.created_at, w.id';

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
        `INSERT INTO workspaces (workspace_id, name, approvals, created_at, created_by, version)
         VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
        [
          ...[workspace.id, workspace.name, JSON.stringify(workspace.approvals)],
          ...[workspace.createdAt, workspace.createdBy, workspace.version],
        ],
      );
      if (changes === 1) this.replaceMembers(Number(lastInsertRowid), workspace);
    });
  }

  save(workspace: WorkspaceRecord, expectedVersion: number, removal?: Removal): Promise<boolean> {
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
      this.replaceMembers(row[0], workspace);
      if (removal) {
        this.database.run(
          'INSERT OR REPLACE INTO removals (workspace, user_id, by_user_id, removed_at) VALUES (?, ?, ?, ?)',
          [row[0], removal.userId, removal.byUserId, removal.removedAt],
        );
      }
      return true;
    });
  }

  async unsettled(limit: number): Promise<Removal[]> {
    const rows = this.database.all<[number, string, string, number]>(
      'SELECT workspace, user_id, by_user_id, removed_at FROM removals ORDER BY workspace, user_id LIMIT ?',
      [limit],
    );
    return rows.map(([key, userId, byUserId, removedAt]) => ({
      ...{ workspaceId: this.workspaces.idOf(key), userId, byUserId, removedAt },
    }));
  }

  async settled({ workspaceId, userId, removedAt }: Removal): Promise<void> {
    const workspace = this.workspaces.require(workspaceId);
    await this.database.write(() =>
      this.database.run('DELETE FROM removals WHERE workspace = ? AND user_id = ? AND removed_at <= ?', [
        ...[workspace, userId, removedAt],
      ]),
    );
  }

  async byId(id: string): Promise<WorkspaceRecord | null> {
    return this.find(id);
  }

  async summaryOf(workspaceId: string, userId: string): Promise<WorkspaceSummary | null> {
    const workspace = this.workspaces.find(workspaceId);
    if (workspace === null) return null;
    const row = this.database.get<[Role, ...WorkspaceRow]>(
      `${SELECT_OF_MEMBER} WHERE m.workspace = ? AND m.user_id = ?`,
      [workspace, userId],
    );
    return row === null ? null : this.summary(row);
  }

  async summariesOf(userId: string, afterId: string | null, limit: number): Promise<WorkspaceSummary[]> {
    const after =
      afterId === null
        ? ''
        : ` AND (${ORDER}) > (SELECT ${ORDER} FROM workspaces w WHERE w.workspace_id = ?)`;
    const rows = this.database.all<[Role, ...WorkspaceRow]>(
      `${SELECT_OF_MEMBER} WHERE m.user_id = ?${after} ORDER BY ${ORDER} LIMIT ?`,
      [userId, ...(afterId === null ? [] : [userId, userId, afterId]), userId, limit],
    );
    return rows.map((row) => this.summary(row));
  }

  async approvalsOf(workspaceId: string): Promise<CloudChange[] | null> {
    const sql = 'SELECT approvals FROM workspaces WHERE workspace_id = ?';
    const row = this.database.get<[string]>(sql, [workspaceId]);
    return row === null ? null : readApprovals(row[0]);
  }

  async countMadeBy(makerId: string, memberId: string): Promise<number> {
    const sql = `SELECT count(*) FROM workspaces w CROSS JOIN members m ON m.workspace = w.id
      WHERE w.created_by = ? AND m.user_id = ?`;
    return this.database.get<[number]>(sql, [makerId, memberId])![0];
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

  /** Writes only changes: of a thousand members one request changes one. */
  private replaceMembers(key: number, { members }: WorkspaceRecord): void {
    this.database.part(KnownMembers).forget();
    const known = new Map(
      this.database
        .all<[string, Role, number, number]>(
          'SELECT user_id, role, added_at, position FROM members WHERE workspace = ?',
          [key],
        )
        .map(([userId, ...rest]) => [userId, rest]),
    );
    members.forEach(({ userId, role, addedAt }, position) => {
      const next = [role, addedAt, position];
      if (!isDeepStrictEqual(known.get(userId), next)) {
        this.database.run(
          'INSERT OR REPLACE INTO members (workspace, user_id, role, added_at, position) VALUES (?, ?, ?, ?, ?)',
          [key, userId, role, addedAt, position],
        );
      }
      known.delete(userId);
    });
    for (const userId of known.keys()) {
      this.database.run('DELETE FROM members WHERE workspace = ? AND user_id = ?', [key, userId]);
    }
  }

  private summary([role, key, id, name, approvals, createdAt, createdBy]: [
    Role,
    ...WorkspaceRow,
  ]): WorkspaceSummary {
    const owners = this.database
      .all<[string]>(
        "SELECT user_id FROM members WHERE workspace = ? AND role = 'owner' ORDER BY position LIMIT ?",
        [key, MAX_NAMED_OWNERS],
      )
      .map(([userId]) => userId);
    return { id, name, approvals: readApprovals(approvals), createdAt, createdBy, role, owners };
  }

  private withMembers(row: WorkspaceRow): WorkspaceRecord {
    const [key, id, name, approvals, createdAt, createdBy, version] = row;
    const members = this.database
      .all<[string, Role, number]>(
        'SELECT user_id, role, added_at FROM members WHERE workspace = ? ORDER BY position',
        [key],
      )
      .map(([userId, role, addedAt]) => ({ userId, role, addedAt }));
    return { id, name, approvals: readApprovals(approvals), createdAt, createdBy, version, members };
  }
}

function readApprovals(text: string): CloudChange[] {
  return JSON.parse(text) as CloudChange[];
}
