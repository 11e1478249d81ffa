import { DomainError } from '../../common/domain-error.js';
import type { SqliteDatabase } from './database.js';
import { count } from './usage-rows.js';

/** The workspace and user of a write. */
export interface Writer {
  workspaceId: string;
  workspace: number;
  userId: string;
}

const OF_HASH = 'workspace = ? AND sha256 = ?';

/** A hash as it is stored: 32 bytes. */
export function hashBytes(sha256: string): Buffer {
  return Buffer.from(sha256, 'hex');
}

/** The key of the workspace's blob with this hash; null if it has none. */
export function blobKey(database: SqliteDatabase, workspace: number, sha256: string): number | null {
  const row = database.get<[number]>(`SELECT id FROM blobs WHERE ${OF_HASH}`, [workspace, hashBytes(sha256)]);
  return row === null ? null : row[0];
}

/** The bytes with this hash; null if the workspace has none. */
export function blobBytes(database: SqliteDatabase, workspace: number, sha256: string): Buffer | null {
  const row = database.get<[Uint8Array]>(`SELECT bytes FROM blobs WHERE ${OF_HASH}`, [
    workspace,
    hashBytes(sha256),
  ]);
  return row === null ? null : Buffer.from(row[0].buffer, row[0].byteOffset, row[0].byteLength);
}

/** Stores new bytes of the workspace, counts them for the writer, and returns their key; call it in a job. */
export function insertBlob(
  database: SqliteDatabase,
  { workspaceId, workspace, userId }: Writer,
  sha256: string,
  bytes: Uint8Array,
): number {
  const { lastInsertRowid } = database.run('INSERT INTO blobs (workspace, sha256, bytes) VALUES (?, ?, ?)', [
    workspace,
    hashBytes(sha256),
    bytes,
  ]);
  const blob = Number(lastInsertRowid);
  const size = bytes.byteLength;
  database.run('INSERT INTO blob_owners (blob, user_id, size_bytes) VALUES (?, ?, ?)', [blob, userId, size]);
  count(database, workspaceId, userId, { bytes: size });
  return blob;
}

/** Removes bytes, and subtracts them from their owner's usage; call it in a job. */
export function removeBlob(
  database: SqliteDatabase,
  workspaceOf: (key: number) => string,
  blob: number,
): void {
  const owner = database.get<[number, string, number]>(
    'SELECT b.workspace, s.user_id, s.size_bytes FROM blobs b JOIN blob_owners s ON s.blob = b.id WHERE b.id = ?',
    [blob],
  );
  for (const table of ['loose_blobs WHERE blob', 'blob_owners WHERE blob', 'blobs WHERE id'])
    database.run(`DELETE FROM ${table} = ?`, [blob]);
  if (owner !== null) count(database, workspaceOf(owner[0]), owner[1], { bytes: -owner[2] });
}

/** Keeps the bytes of a new version; call it in the job that writes the version. */
export function referToBlob(
  database: SqliteDatabase,
  writer: Writer,
  sha256: string,
  bytes: Uint8Array | null,
): void {
  const known = blobKey(database, writer.workspace, sha256);
  if (known !== null) database.run('DELETE FROM loose_blobs WHERE blob = ?', [known]);
  else if (bytes !== null) insertBlob(database, writer, sha256, bytes);
  else throw new DomainError('CONFLICT', `The workspace does not hold the bytes of ${sha256}; send them.`);
}
