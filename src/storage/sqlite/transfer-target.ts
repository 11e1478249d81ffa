import { toAuditDraft } from '../trail-record.js';
import type { RecordTarget } from '../transfer/store.js';
import { type AggregateKind, TransferError, type Records } from '../transfer/records.js';
import type { PatchBatchRecord } from '../ports/patches.store.js';
import type { Usage } from '../ports/usage.store.js';
import { hashBytes } from './blobs.js';
import { updateAbove, updateFrom } from './implied-folders.js';
import { SqliteTransferSource } from './transfer-source.js';
import { writeTurn } from './transfer-turns.js';
import { TrailLog } from './trail-log.js';
import { TrailProjection } from './trail-projection.js';
import type { SqlValue } from './values.js';
import { insertVersion } from './version-rows.js';

/** A kind whose batches are written in one transaction. */
type RowKind = Exclude<AggregateKind, 'blobs' | 'turns' | 'events'>;

/** Writes records into an embedded store that is being filled. */
export class SqliteTransferTarget extends SqliteTransferSource implements RecordTarget {
  private readonly writers: { readonly [Of in RowKind]: (record: Records[Of]) => void } = {
    workspaces: (record) => this.workspace(record),
    entries: (record) => this.entry(record),
    versions: ({ workspaceId, fileId, ...version }) => {
      const sql = 'SELECT id FROM files WHERE file_id = ? AND workspace = ?';
      const key = this.database.get<[number]>(sql, [fileId, this.workspaces.require(workspaceId)]);
      if (key === null) throw new TransferError(`A version is of the file ${fileId}, which is not there.`);
      insertVersion(this.database, key[0], version);
    },
    batches: (record) => this.batch(record),
    usage: ({ workspaceId, members, ...all }) => {
      this.insert('usage', { workspace_id: workspaceId, ...usageIn(all) });
      for (const { userId, ...own } of members)
        this.insert('member_usage', { user_id: userId, workspace_id: workspaceId, ...usageIn(own) });
    },
  };

  async write<Of extends AggregateKind>(kind: Of, records: readonly Records[Of][]): Promise<void> {
    if (kind === 'blobs') {
      for (const blob of records as readonly Records['blobs'][]) await this.blob(blob);
    } else if (kind === 'turns') {
      for (const turn of records as readonly Records['turns'][])
        await writeTurn(this.database, this.workspaces.require(turn.workspaceId), turn);
    } else if (kind === 'events') {
      await this.writeEvents(records as readonly Records['events'][]);
    } else await this.database.write(() => records.forEach(this.writerOf(kind)));
  }

  /** Events that follow each other share rows. */
  private async writeEvents(records: readonly Records['events'][]): Promise<void> {
    await this.database.write(() => {
      for (let [from, to] = [0, 1]; from < records.length; from = to++) {
        const { workspaceId, seq } = records[from]!;
        while (records[to]?.workspaceId === workspaceId && records[to]!.seq === seq + to - from) to += 1;
        const events = records.slice(from, to).map(toAuditDraft);
        this.database.part(TrailLog).insert(this.workspaces.require(workspaceId), seq, events);
      }
    });
    await this.database.part(TrailProjection).project();
  }

  private writerOf<Of extends AggregateKind>(kind: Of): (record: Records[Of]) => void {
    const writers: Readonly<Record<string, unknown>> = this.writers;
    return writers[kind] as (record: Records[Of]) => void;
  }

  /** Returns the row's key; call it in a job, like those below. */
  private insert(table: string, row: Record<string, SqlValue>): number {
    const names = Object.keys(row);
    const sql = `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`;
    return Number(this.database.run(sql, Object.values(row)).lastInsertRowid);
  }

  private workspace({
    id,
    name,
    approvals,
    createdAt,
    createdBy,
    version,
    members,
    removals,
  }: Records['workspaces']) {
    const workspace = this.insert('workspaces', {
      ...{ workspace_id: id, name, approvals: JSON.stringify(approvals) },
      ...{ created_at: createdAt, created_by: createdBy, version },
    });
    members.forEach(({ userId, role, addedAt }, position) =>
      this.insert('members', { workspace, user_id: userId, role, added_at: addedAt, position }),
    );
    for (const { userId, byUserId, removedAt } of removals)
      this.insert('removals', { workspace, user_id: userId, by_user_id: byUserId, removed_at: removedAt });
  }

  private entry(entry: Records['entries']): void {
    const { workspaceId, id, path, docPath, createdAt, deletedAt, holder } = entry;
    const workspace = this.workspaces.require(workspaceId);
    const isFile = entry.kind === 'file';
    this.insert('files', {
      ...{ workspace, file_id: id, folder: Number(!isFile), path, doc_path: docPath, created_at: createdAt },
      ...(isFile
        ? { revision: entry.revision, head: entry.head.number, last_number: entry.lastNumber }
        : { revision: 1, head: 0, last_number: 0 }),
      ...{ updated_at: isFile ? entry.updatedAt : createdAt, deleted_at: deletedAt, holder },
    });
    if (deletedAt !== null) return;
    (isFile ? updateAbove : updateFrom)(this.database, workspace, docPath);
  }

  private batch({ record, loose }: Records['batches']): void {
    const { workspaceId, batchId, sessionId, turnId, createdAt, batch } = JSON.parse(
      record,
    ) as PatchBatchRecord;
    const workspace = this.workspaces.require(workspaceId);
    const key = this.insert('patch_batches', {
      ...{
        workspace,
        batch_id: batchId,
        session_id: sessionId,
        turn_id: turnId,
        created_at: createdAt,
        record,
      },
      ...{ doc_paths: JSON.stringify(batch.files.map(({ docPath }) => docPath)), loose: Number(loose) },
    });
    const parts = batch.files.flatMap(({ filePatchId, changes }) => [
      filePatchId!,
      ...changes.map(({ changeId }) => changeId!),
    ]);
    const sql = 'INSERT INTO patch_parts (part_id, batch) SELECT value, ? FROM json_each(?)';
    this.database.run(sql, [key, JSON.stringify(parts)]);
  }

  /** In a job of its own: its bytes may be large. */
  private async blob({ workspaceId, sha256, size, holder, looseSince, markedAt, read }: Records['blobs']) {
    const workspace = this.workspaces.require(workspaceId);
    const bytes = await read();
    await this.database.write(() => {
      const blob = this.insert('blobs', { workspace, sha256: hashBytes(sha256), bytes });
      this.insert('blob_owners', { blob, user_id: holder, size_bytes: size });
      if (looseSince !== null) this.insert('loose_blobs', { blob, put_at: looseSince, marked_at: markedAt });
    });
  }
}

function usageIn({ bytes, files, versions, sessions }: Usage) {
  return { bytes, files, versions, sessions };
}
