import { createHash } from 'node:crypto';
import type { MoveTarget } from '../move/move.js';
import { type Kind, MoveError, type Records } from '../move/records.js';
import type { PatchBatchRecord } from '../ports/patches.store.js';
import type { Usage } from '../ports/usage.store.js';
import { blobKey, hashBytes } from './blobs.js';
import { settleAbove, settleFrom } from './implied-folders.js';
import { SqliteMoveSource } from './move-source.js';
import { writeTurn } from './move-turns.js';
import type { SqlValue } from './values.js';
import { insertVersion } from './version-rows.js';

/** A kind whose batches are written in one transaction. */
type RowKind = Exclude<Kind, 'blobs' | 'turns'>;

/** An embedded store that is being filled; what it has already stays. */
export class SqliteMoveTarget extends SqliteMoveSource implements MoveTarget {
  private readonly writers: { readonly [Of in RowKind]: (record: Records[Of]) => void } = {
    users: ({ id, email, fullName, passwordHash, createdAt }) =>
      this.insert('users', {
        ...{ user_id: id, email, full_name: fullName, password_hash: passwordHash, created_at: createdAt },
      }),
    logins: ({ id, userId, familyHash, tokenHash, previousHash, seed, rotatedAt, expiresAt, createdAt }) =>
      this.insert('logins', {
        ...{ login_id: id, user_id: userId, family_hash: familyHash, token_hash: tokenHash, seed },
        ...{
          previous_hash: previousHash,
          rotated_at: rotatedAt,
          expires_at: expiresAt,
          created_at: createdAt,
        },
      }),
    workspaces: (record) => this.workspace(record),
    contracts: ({ digest, contract }) =>
      this.insert('contracts', { digest: Buffer.from(digest, 'hex'), contract }),
    sessions: (record) => this.session(record),
    clients: ({ workspaceId, userId, clientId, name, epoch, connectionId, node, ...rest }) =>
      this.insert('clients', {
        ...{
          workspace: this.workspaces.require(workspaceId),
          user_id: userId,
          client_id: clientId,
          name,
          epoch,
          node,
        },
        ...{ connection_id: connectionId, connected_at: rest.connectedAt, left_at: rest.leftAt },
        ...{ until: rest.until, roots: rest.roots, statuses: rest.statuses },
      }),
    roots: ({ workspaceId, docPath, name, rootId, userId, claimedAt }) =>
      this.insert('roots', {
        ...{ workspace: this.workspaces.require(workspaceId), doc_path: docPath, name },
        ...{ root_id: rootId, user_id: userId, claimed_at: claimedAt },
      }),
    keys: ({ workspaceId, userId, key, sessionId, turnId, claimedAt }) =>
      this.insert('idempotency_keys', {
        ...{ workspace: this.workspaces.require(workspaceId), user_id: userId, key },
        ...{ session_id: sessionId, turn_id: turnId, claimed_at: claimedAt },
      }),
    entries: (record) => this.entry(record),
    versions: ({ workspaceId, fileId, ...version }) => {
      const sql = 'SELECT id FROM files WHERE file_id = ? AND workspace = ?';
      const key = this.database.get<[number]>(sql, [fileId, this.workspaces.require(workspaceId)]);
      if (key === null) throw new MoveError(`A version is of the file ${fileId}, which is not there.`);
      const known = 'SELECT 1 FROM file_versions WHERE file = ? AND number = ?';
      if (this.database.get(known, [key[0], version.number]) === null)
        insertVersion(this.database, key[0], version);
    },
    batches: (record) => this.batch(record),
    events: ({ workspaceId, eventId, sessionId, conversationId, turnId, toolCallId, callId, ...event }) =>
      this.insert('audit_events', {
        ...{
          workspace: this.workspaces.require(workspaceId),
          seq: event.seq,
          event_id: eventId,
          name: event.name,
        },
        ...{ at: event.at, session_id: sessionId, conversation_id: conversationId, turn_id: turnId },
        ...{ tool_call_id: toolCallId, call_id: callId, attempt: event.attempt, user_id: event.userId },
        ...{ client_id: event.clientId, tool_name: event.toolName, error_code: event.errorCode },
        ...{ success: event.success === null ? null : Number(event.success), path: event.path },
        fields: event.fields,
      }),
    usage: ({ workspaceId, members, ...all }) => {
      this.insert('usage', { workspace_id: workspaceId, ...usageIn(all) });
      for (const { userId, ...own } of members)
        this.insert('member_usage', { user_id: userId, workspace_id: workspaceId, ...usageIn(own) });
    },
  };

  async write<Of extends Kind>(kind: Of, records: readonly Records[Of][]): Promise<void> {
    if (kind === 'blobs') {
      for (const blob of records as readonly Records['blobs'][]) await this.blob(blob);
    } else if (kind === 'turns') {
      for (const turn of records as readonly Records['turns'][])
        await writeTurn(this.database, this.workspaces.require(turn.workspaceId), turn);
    } else {
      const writers: Readonly<Record<string, unknown>> = this.writers;
      const writer = writers[kind] as (record: Records[Of]) => void;
      await this.database.write(() => records.forEach(writer));
    }
  }

  /** False where it is there; inside a job, as are those below. */
  private insert(table: string, row: Record<string, SqlValue>): boolean {
    const names = Object.keys(row);
    const sql = `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})
      ON CONFLICT DO NOTHING`;
    return this.database.run(sql, Object.values(row)).changes === 1;
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
    const isNew = this.insert('workspaces', {
      ...{ workspace_id: id, name, approvals: JSON.stringify(approvals) },
      ...{ created_at: createdAt, created_by: createdBy, version },
    });
    if (!isNew) return;
    const [workspace] = this.database.get<[number]>('SELECT id FROM workspaces WHERE workspace_id = ?', [
      id,
    ])!;
    members.forEach(({ userId, role, addedAt }, position) =>
      this.insert('members', { workspace, user_id: userId, role, added_at: addedAt, position }),
    );
    for (const { userId, byUserId, removedAt } of removals)
      this.insert('removals', { workspace, user_id: userId, by_user_id: byUserId, removed_at: removedAt });
  }

  private session({ workspaceId, id, userId, conversationId, ...rest }: Records['sessions']): void {
    const workspace = this.workspaces.require(workspaceId);
    this.insert('sessions', {
      ...{ workspace, session_id: id, conversation_id: conversationId, user_id: userId },
      ...{ client_id: rest.clientId, created_at: rest.createdAt },
      tools: rest.tools === null ? null : JSON.stringify(rest.tools),
    });
    if (rest.activeFiles !== null)
      this.insert('active_files', { workspace, session_id: id, files: rest.activeFiles });
  }

  private entry(entry: Records['entries']): void {
    const { workspaceId, id, path, docPath, createdAt, deletedAt, holder } = entry;
    const workspace = this.workspaces.require(workspaceId);
    const isFile = entry.kind === 'file';
    const isNew = this.insert('files', {
      ...{ workspace, file_id: id, folder: Number(!isFile), path, doc_path: docPath, created_at: createdAt },
      ...(isFile
        ? { revision: entry.revision, head: entry.head.number, last_number: entry.lastNumber }
        : { revision: 1, head: 0, last_number: 0 }),
      ...{ updated_at: isFile ? entry.updatedAt : createdAt, deleted_at: deletedAt, holder },
    });
    if (!isNew || deletedAt !== null) return;
    (isFile ? settleAbove : settleFrom)(this.database, workspace, docPath);
  }

  private batch({ record, loose }: Records['batches']): void {
    const { workspaceId, batchId, sessionId, turnId, createdAt, batch } = JSON.parse(
      record,
    ) as PatchBatchRecord;
    const workspace = this.workspaces.require(workspaceId);
    const isNew = this.insert('patch_batches', {
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
    if (!isNew) return;
    const parts = batch.files.flatMap(({ filePatchId, changes }) => [
      filePatchId!,
      ...changes.map(({ changeId }) => changeId!),
    ]);
    const [key] = this.database.get<[number]>('SELECT id FROM patch_batches WHERE batch_id = ?', [batchId])!;
    const sql = 'INSERT INTO patch_parts (part_id, batch) SELECT value, ? FROM json_each(?)';
    this.database.run(sql, [key, JSON.stringify(parts)]);
  }

  /** A job of its own: its bytes may be many. */
  private async blob({ workspaceId, sha256, size, holder, looseSince, markedAt, read }: Records['blobs']) {
    const workspace = this.workspaces.require(workspaceId);
    if (blobKey(this.database, workspace, sha256) !== null) return;
    const bytes = await read();
    if (bytes === null || createHash('sha256').update(bytes).digest('hex') !== sha256)
      throw new MoveError(
        `The bytes of ${sha256} in the workspace ${workspaceId} are damaged where they are.`,
      );
    await this.database.write(() => {
      this.insert('blobs', { workspace, sha256: hashBytes(sha256), bytes });
      const blob = blobKey(this.database, workspace, sha256);
      this.insert('blob_owners', { blob, user_id: holder, size_bytes: size });
      if (looseSince !== null) this.insert('loose_blobs', { blob, put_at: looseSince, marked_at: markedAt });
    });
  }
}

function usageIn({ bytes, files, versions, sessions }: Usage) {
  return { bytes, files, versions, sessions };
}
