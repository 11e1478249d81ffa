import { Injectable } from '@nestjs/common';
import type { ClientRoot, FolderStatus } from '@patchbay/protocol';
import {
  type ClientAnnouncement,
  type ClientName,
  type ClientRecord,
  type ClientStatuses,
  ClientStore,
} from '../ports/clients.store.js';
import { SqliteDatabase } from './database.js';
import { WorkspaceKeys } from './workspace-keys.js';

type ClientRow = [
  clientId: string,
  name: string,
  epoch: number,
  connectionId: string,
  node: string,
  connectedAt: number,
  leftAt: number | null,
  until: number,
  roots: string,
];

const OF_CLIENT = 'WHERE workspace = ? AND user_id = ? AND client_id = ?';
// The lease of who is connected runs longer than anybody else was seen.
const OF_USER = `WHERE workspace = ? AND user_id = ?
  ORDER BY coalesce(left_at, until) DESC, connected_at DESC, client_id LIMIT ?`;

@Injectable()
export class SqliteClientStore extends ClientStore {
  constructor(
    private readonly database: SqliteDatabase,
    private readonly workspaces: WorkspaceKeys,
  ) {
    super();
  }

  async connected(client: ClientAnnouncement): Promise<void> {
    const workspace = this.workspaces.require(client.workspaceId);
    const { userId, clientId, name, epoch, connectionId, node, connectedAt, until, roots } = client;
    await this.database.write(() => {
      const had = new Set(roots.map(({ docPath }) => docPath));
      const kept = this.statuses(workspace, client).filter(({ docPath }) => had.has(docPath));
      this.database.run(
        `INSERT INTO clients (workspace, user_id, client_id, name, epoch, connection_id, node, connected_at, until,
           roots, statuses) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (workspace, user_id, client_id) DO UPDATE SET name = excluded.name,
           epoch = excluded.epoch, connection_id = excluded.connection_id, node = excluded.node, connected_at = excluded.connected_at,
           left_at = NULL, until = excluded.until, roots = excluded.roots, statuses = excluded.statuses
         WHERE (epoch, connection_id) < (excluded.epoch, excluded.connection_id)`,
        [
          ...[workspace, userId, clientId, name, epoch, connectionId, node, connectedAt, until],
          ...[JSON.stringify(roots), JSON.stringify(kept)],
        ],
      );
    });
  }

  async epochOf({ workspaceId, userId, clientId }: ClientName): Promise<number> {
    const workspace = this.workspaces.find(workspaceId);
    if (workspace === null) return 0;
    const sql = `SELECT epoch FROM clients ${OF_CLIENT}`;
    return this.database.get<[number]>(sql, [workspace, userId, clientId])?.[0] ?? 0;
  }

  async left({ workspaceId, userId, clientId }: ClientName, connectionId: string, at: number): Promise<void> {
    const workspace = this.workspaces.require(workspaceId);
    await this.database.write(() => {
      this.database.run(
        `UPDATE clients SET left_at = ? ${OF_CLIENT} AND connection_id = ? AND left_at IS NULL`,
        [at, workspace, userId, clientId, connectionId],
      );
    });
  }

  async reported(client: ClientName, connectionId: string, status: FolderStatus): Promise<void> {
    const workspace = this.workspaces.require(client.workspaceId);
    await this.database.write(() => {
      const others = this.statuses(workspace, client).filter(({ docPath }) => docPath !== status.docPath);
      this.database.run(`UPDATE clients SET statuses = ? ${OF_CLIENT} AND connection_id = ?`, [
        JSON.stringify([...others, status].sort(byDocPath)),
        ...[workspace, client.userId, client.clientId, connectionId],
      ]);
    });
  }

  async renew(node: string, until: number): Promise<void> {
    await this.database.write(() => {
      this.database.run('UPDATE clients SET until = ? WHERE node = ? AND left_at IS NULL', [until, node]);
    });
  }

  async endAll(node: string, at: number): Promise<void> {
    await this.database.write(() => {
      this.database.run('UPDATE clients SET left_at = ? WHERE node = ? AND left_at IS NULL', [at, node]);
    });
  }

  async removeUnseen(before: number): Promise<void> {
    await this.database.write(() => {
      this.database.run('DELETE FROM clients WHERE until < ?', [before]);
    });
  }

  async ofUser(workspaceId: string, userId: string, limit: number): Promise<ClientRecord[]> {
    const workspace = this.workspaces.find(workspaceId);
    if (workspace === null) return [];
    const rows = this.database.all<ClientRow>(
      `SELECT client_id, name, epoch, connection_id, node, connected_at, left_at, until, roots FROM clients ${OF_USER}`,
      [workspace, userId, limit],
    );
    return rows.map((row) => toClient({ workspaceId, userId }, row));
  }

  async statusesOf(workspaceId: string, userId: string, limit: number): Promise<ClientStatuses[]> {
    const workspace = this.workspaces.find(workspaceId);
    if (workspace === null) return [];
    const sql = `SELECT client_id, statuses FROM clients ${OF_USER}`;
    return this.database
      .all<[string, string]>(sql, [workspace, userId, limit])
      .map(([clientId, text]) => ({ clientId, statuses: JSON.parse(text) as FolderStatus[] }));
  }

  private statuses(workspace: number, { userId, clientId }: ClientName): FolderStatus[] {
    const sql = `SELECT statuses FROM clients ${OF_CLIENT}`;
    const row = this.database.get<[string]>(sql, [workspace, userId, clientId]);
    return row === null ? [] : (JSON.parse(row[0]) as FolderStatus[]);
  }
}

function byDocPath({ docPath: a }: FolderStatus, { docPath: b }: FolderStatus): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function toClient(user: Pick<ClientRecord, 'workspaceId' | 'userId'>, row: ClientRow): ClientRecord {
  const [clientId, name, epoch, connectionId, node, connectedAt, leftAt, until, roots] = row;
  return {
    ...user,
    ...{ clientId, name, epoch, connectionId, node, connectedAt, leftAt, until },
    roots: JSON.parse(roots) as ClientRoot[],
  };
}
