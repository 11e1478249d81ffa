import type { CloudChange, Role } from '@patchbay/protocol';
import { isNoUsage, type AggregateKind, type Records, type WholeEntry } from '../transfer/records.js';
import type { RecordStore } from '../records/record-store.js';
import { toTrailRecord } from '../trail-record.js';
import type { RecordSource } from '../transfer/store.js';
import { blobBytes } from './blobs.js';
import type { SqliteDatabase } from './database.js';
import { type FileRow, selectFiles, toEntry } from './file-rows.js';
import { readTurns } from './transfer-turns.js';
import { pages } from './pages.js';
import { TrailProjection } from './trail-projection.js';
import { fromRow } from './trail-rows.js';
import { SqliteRecordStore } from './record-store.js';
import { toVersion, VERSION_COLUMNS, type VersionRow } from './version-rows.js';
import { type Columns, usageFrom } from './usage-rows.js';
import { WorkspaceKeys } from './workspace-keys.js';

type Pages<Of extends AggregateKind> = AsyncIterable<Records[Of][]>;

/** Reads everything in the embedded store. */
export class SqliteTransferSource implements RecordSource {
  readonly records: RecordStore;
  protected readonly workspaces: WorkspaceKeys;
  private readonly readers: { readonly [Of in AggregateKind]: () => Pages<Of> } = {
    workspaces: () => this.workspacesWhole(),
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
    this.records = new SqliteRecordStore(database, this.workspaces);
  }

  read<Of extends AggregateKind>(kind: Of): Pages<Of> {
    return this.readers[kind]();
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
        return { ...toEntry(this.workspaces.idOf(key), row), deletedAt } as WholeEntry;
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
    await this.database.part(TrailProjection).project();
    type Row = [workspace: number, seq: number, events: string];
    const select =
      'SELECT s.workspace, s.seq, t.events FROM trail_seqs s CROSS JOIN trail t ON t.id = s.trail';
    for await (const rows of pages<Row>(this.database, select, ['s.workspace', 's.seq'], 200))
      yield rows.flatMap(([key, seq, text]) => {
        const workspaceId = this.workspaces.idOf(key);
        return fromRow(text).map((event, at) => ({ workspaceId, ...toTrailRecord(seq + at, event) }));
      });
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
