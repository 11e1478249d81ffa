import type { CloudChange, Role } from '@patchbay/protocol';
import type { Kind, MovedEntry, MovedEvent, Records } from '../move/records.js';
import { isNoUsage } from '../move/records.js';
import type { MoveSource } from '../move/move.js';
import { blobBytes } from './blobs.js';
import type { SqliteDatabase } from './database.js';
import { type FileRow, selectFiles, toEntry } from './file-rows.js';
import { readTurns } from './move-turns.js';
import { pages } from './pages.js';
import { toVersion, VERSION_COLUMNS, type VersionRow } from './version-rows.js';
import { type Columns, usageFrom } from './usage-rows.js';
import { WorkspaceKeys } from './workspace-keys.js';

type Text = string | null;
type Pages<Of extends Kind> = AsyncIterable<Records[Of][]>;

const TABLES: { readonly [Of in Kind]: string } = {
  users: 'users',
  logins: 'logins',
  workspaces: 'workspaces',
  contracts: 'contracts',
  sessions: 'sessions',
  clients: 'clients',
  roots: 'roots',
  keys: 'idempotency_keys',
  blobs: 'blobs',
  entries: 'files',
  versions: 'file_versions',
  batches: 'patch_batches',
  turns: 'turns',
  events: 'audit_events',
  usage: 'usage',
};

/** All that the embedded store holds. */
export class SqliteMoveSource implements MoveSource {
  protected readonly workspaces: WorkspaceKeys;
  private readonly readers: { readonly [Of in Kind]: () => Pages<Of> } = {
    users: () => this.users(),
    logins: () => this.logins(),
    workspaces: () => this.workspacesWhole(),
    contracts: () => this.contracts(),
    sessions: () => this.sessions(),
    clients: () => this.clients(),
    roots: () => this.roots(),
    keys: () => this.keys(),
    blobs: () => this.blobs(),
    entries: () => this.entries(),
    versions: () => this.versions(),
    batches: () => this.batches(),
    turns: () => readTurns(this.database, this.workspaces),
    events: () => this.events(),
    usage: () => this.usage(),
  };

  constructor(protected readonly database: SqliteDatabase) {
    this.workspaces = new WorkspaceKeys(database);
  }

  async count(kind: Kind): Promise<number> {
    return this.database.get<[number]>(`SELECT count(*) FROM ${TABLES[kind]}`)![0];
  }

  read<Of extends Kind>(kind: Of): Pages<Of> {
    return this.readers[kind]();
  }

  private async *users(): Pages<'users'> {
    type Row = [id: string, email: string, fullName: Text, passwordHash: string, createdAt: number];
    const select = 'SELECT user_id, email, full_name, password_hash, created_at FROM users';
    for await (const rows of pages<Row>(this.database, select, ['user_id']))
      yield rows.map(([id, email, fullName, passwordHash, createdAt]) => {
        return { id, email, fullName, passwordHash, createdAt };
      });
  }

  private async *logins(): Pages<'logins'> {
    type Row = [string, string, string, string, Text, Text, number, number, number];
    const select = `SELECT login_id, user_id, family_hash, token_hash, previous_hash, seed, rotated_at, expires_at,
      created_at FROM logins`;
    for await (const rows of pages<Row>(this.database, select, ['login_id']))
      yield rows.map(([id, userId, familyHash, tokenHash, previousHash, seed, rotatedAt, ...times]) => {
        const [expiresAt, createdAt] = times;
        return {
          ...{ id, userId, familyHash, tokenHash, previousHash, seed, rotatedAt },
          expiresAt,
          createdAt,
        };
      });
  }

  private async *workspacesWhole(): Pages<'workspaces'> {
    type Row = [
      key: number,
      id: string,
      name: string,
      approvals: string,
      createdAt: number,
      createdBy: string,
      version: number,
    ];
    const select =
      'SELECT id, workspace_id, name, approvals, created_at, created_by, version FROM workspaces';
    for await (const rows of pages<Row>(this.database, select, ['id'], 50))
      yield rows.map(([key, id, name, approvals, createdAt, createdBy, version]) => ({
        ...{ id, name, approvals: JSON.parse(approvals) as CloudChange[], createdAt, createdBy, version },
        members: this.database
          .all<[string, Role, number]>(
            'SELECT user_id, role, added_at FROM members WHERE workspace = ? ORDER BY position',
            [key],
          )
          .map(([userId, role, addedAt]) => ({ userId, role, addedAt })),
        removals: this.database
          .all<[string, string, number]>(
            'SELECT user_id, by_user_id, removed_at FROM removals WHERE workspace = ? ORDER BY user_id',
            [key],
          )
          .map(([userId, byUserId, removedAt]) => ({ userId, byUserId, removedAt })),
      }));
  }

  private async *contracts(): Pages<'contracts'> {
    type Row = [Uint8Array, string];
    const select = 'SELECT digest, contract FROM contracts';
    for await (const rows of pages<Row>(this.database, select, ['digest'], 50))
      yield rows.map(([digest, contract]) => ({ digest: Buffer.from(digest).toString('hex'), contract }));
  }

  private async *sessions(): Pages<'sessions'> {
    type Row = [number, string, string, string, Text, Text, number, Text];
    const select = `SELECT s.workspace, s.session_id, s.conversation_id, s.user_id, s.client_id, s.tools, s.created_at,
      a.files FROM sessions s LEFT JOIN active_files a ON a.workspace = s.workspace AND a.session_id = s.session_id`;
    for await (const rows of pages<Row>(this.database, select, ['s.workspace', 's.session_id'], 50))
      yield rows.map(([key, id, conversationId, userId, clientId, tools, createdAt, activeFiles]) => ({
        ...{ id, workspaceId: this.workspaces.idOf(key), conversationId, userId, clientId, createdAt },
        tools: tools === null ? null : (JSON.parse(tools) as string[]),
        activeFiles,
      }));
  }

  private async *clients(): Pages<'clients'> {
    type Row = [
      ...[id: number, workspace: number, userId: string, clientId: string, name: string, epoch: number],
      ...[connectionId: string, node: string, connectedAt: number, leftAt: number | null, until: number],
      ...[roots: string, statuses: string],
    ];
    const select = `SELECT id, workspace, user_id, client_id, name, epoch, connection_id, node, connected_at, left_at,
      until, roots, statuses FROM clients`;
    for await (const rows of pages<Row>(this.database, select, ['id'], 100))
      yield rows.map(([, key, userId, clientId, name, epoch, connectionId, node, connectedAt, ...rest]) => {
        const [leftAt, until, roots, statuses] = rest;
        return {
          ...{ workspaceId: this.workspaces.idOf(key), userId, clientId, name, epoch, connectionId, node },
          ...{ connectedAt, leftAt, until, roots, statuses },
        };
      });
  }

  private async *roots(): Pages<'roots'> {
    type Row = [number, number, string, string, string, string, number];
    const select = 'SELECT id, workspace, doc_path, name, root_id, user_id, claimed_at FROM roots';
    for await (const rows of pages<Row>(this.database, select, ['id']))
      yield rows.map(([, key, docPath, name, rootId, userId, claimedAt]) => {
        return { workspaceId: this.workspaces.idOf(key), docPath, name, rootId, userId, claimedAt };
      });
  }

  private async *keys(): Pages<'keys'> {
    type Row = [number, string, string, string, string, number];
    const select = 'SELECT workspace, user_id, key, session_id, turn_id, claimed_at FROM idempotency_keys';
    for await (const rows of pages<Row>(this.database, select, ['workspace', 'user_id', 'key']))
      yield rows.map(([workspace, userId, key, sessionId, turnId, claimedAt]) => {
        return { workspaceId: this.workspaces.idOf(workspace), userId, key, sessionId, turnId, claimedAt };
      });
  }

  private async *blobs(): Pages<'blobs'> {
    type Row = [number, number, Uint8Array, string, number, number | null, number | null];
    const select = `SELECT b.id, b.workspace, b.sha256, s.user_id, length(b.bytes), l.put_at, l.marked_at FROM blobs b
      JOIN blob_owners s ON s.blob = b.id LEFT JOIN loose_blobs l ON l.blob = b.id`;
    for await (const rows of pages<Row>(this.database, select, ['b.id'], 100))
      yield rows.map(([, key, hash, holder, size, looseSince, markedAt]) => {
        const sha256 = Buffer.from(hash).toString('hex');
        const read = () => Promise.resolve(blobBytes(this.database, key, sha256));
        return { workspaceId: this.workspaces.idOf(key), sha256, size, holder, looseSince, markedAt, read };
      });
  }

  private async *entries(): Pages<'entries'> {
    type Key = [id: number, workspace: number, deletedAt: number | null];
    const select = 'SELECT id, workspace, deleted_at FROM files';
    for await (const keys of pages<Key>(this.database, select, ['id'])) {
      const span = [keys[0]![0], keys.at(-1)![0]];
      const sql = `${selectFiles()} WHERE f.id >= ? AND f.id <= ? ORDER BY f.id`;
      const rows = this.database.all<FileRow>(sql, span);
      yield rows.map((row, at) => {
        const [, key, deletedAt] = keys[at]!;
        return { ...toEntry(this.workspaces.idOf(key), row), deletedAt } as MovedEntry;
      });
    }
  }

  private async *versions(): Pages<'versions'> {
    type Row = [file: number, order: number, workspace: number, fileId: string, ...VersionRow];
    const select = `SELECT v.file, v.number, f.workspace, f.file_id, ${VERSION_COLUMNS} FROM file_versions v
      CROSS JOIN files f ON f.id = v.file`;
    for await (const rows of pages<Row>(this.database, select, ['v.file', 'v.number']))
      yield rows.map(([, , key, fileId, ...row]) => {
        return { workspaceId: this.workspaces.idOf(key), fileId, ...toVersion(row) };
      });
  }

  private async *batches(): Pages<'batches'> {
    type Row = [id: number, record: string, loose: number];
    const select = 'SELECT id, record, loose FROM patch_batches';
    for await (const rows of pages<Row>(this.database, select, ['id'], 1))
      yield rows.map(([, record, loose]) => ({ record, loose: loose === 1 }));
  }

  private async *events(): Pages<'events'> {
    type Row = [
      ...[workspace: number, seq: number, eventId: string, name: string, at: number],
      ...[sessionId: Text, conversationId: Text, turnId: Text, toolCallId: Text, callId: Text],
      ...[attempt: number | null, userId: Text, clientId: Text],
      ...[toolName: Text, success: number | null, errorCode: Text, path: Text, fields: string],
    ];
    const select = `SELECT workspace, seq, event_id, name, at, session_id, conversation_id, turn_id, tool_call_id, call_id,
      attempt, user_id, client_id, tool_name, success, error_code, path, fields FROM audit_events`;
    for await (const rows of pages<Row>(this.database, select, ['workspace', 'seq'], 1000))
      yield rows.map(
        ([key, seq, eventId, name, at, sessionId, conversationId, turnId, ...rest]): MovedEvent => {
          const [toolCallId, callId, attempt, userId, clientId, toolName, done, errorCode, path, fields] =
            rest;
          return {
            ...{ workspaceId: this.workspaces.idOf(key), seq, eventId, name, at, sessionId, conversationId },
            ...{ turnId, toolCallId, callId, attempt, userId, clientId, toolName, errorCode, path, fields },
            success: done === null ? null : done === 1,
          };
        },
      );
  }

  private async *usage(): Pages<'usage'> {
    type Row = [workspaceId: string, ...Columns];
    const select = 'SELECT workspace_id, bytes, files, versions, sessions FROM usage';
    const ofMembers = `SELECT user_id, bytes, files, versions, sessions FROM member_usage WHERE workspace_id = ?
      ORDER BY user_id`;
    for await (const rows of pages<Row>(this.database, select, ['workspace_id']))
      yield rows
        .map(([workspaceId, ...columns]) => ({
          workspaceId,
          ...usageFrom(columns),
          members: this.database
            .all<[string, ...Columns]>(ofMembers, [workspaceId])
            .map(([userId, ...own]) => ({ userId, ...usageFrom(own) }))
            .filter((member) => !isNoUsage(member)),
        }))
        .filter((usage) => !isNoUsage(usage) || usage.members.length > 0);
  }
}
