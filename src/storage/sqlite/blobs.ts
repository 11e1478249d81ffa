import { DomainError } from '../../common/domain-error.js';
import type { SqliteDatabase } from './database.js';

const OF_HASH = 'workspace = ? AND sha256 = ?';

/** A hash as it is stored: 32 bytes. */
export function hashBytes(sha256: string): Buffer {
  return Buffer.from(sha256, 'hex');
}

/** The key of the workspace's blob of this hash; null where it has none. */
export function blobKey(database: SqliteDatabase, workspace: number, sha256: string): number | null {
  const row = database.get<[number]>(`SELECT id FROM blobs WHERE ${OF_HASH}`, [workspace, hashBytes(sha256)]);
  return row === null ? null : row[0];
}

/** The bytes of this hash; null where the workspace has none. */
export function blobBytes(database: SqliteDatabase, workspace: number, sha256: string): Buffer | null {
  const row = database.get<[Uint8Array]>(`SELECT bytes FROM blobs WHERE ${OF_HASH}`, [
    workspace,
    hashBytes(sha256),
  ]);
  return row === null ? null : Buffer.from(row[0].buffer, row[0].byteOffset, row[0].byteLength);
}

/** Stores bytes that the workspace does not have yet, and returns their key; inside a job. */
export function insertBlob(
  database: SqliteDatabase,
  workspace: number,
  sha256: string,
  bytes: Uint8Array,
): number {
  const { lastInsertRowid } = database.run('INSERT INTO blobs (workspace, sha256, bytes) VALUES (?, ?, ?)', [
    workspace,
    hashBytes(sha256),
    bytes,
  ]);
  return Number(lastInsertRowid);
}

/** Makes sure of the bytes that a version is about to refer to; inside the job that writes the version. */
export function referToBlob(
  database: SqliteDatabase,
  workspace: number,
  sha256: string,
  bytes: Uint8Array | null,
): void {
  const known = blobKey(database, workspace, sha256);
  if (known !== null) database.run('DELETE FROM loose_blobs WHERE blob = ?', [known]);
  else if (bytes !== null) insertBlob(database, workspace, sha256, bytes);
  else throw new DomainError('CONFLICT', `The workspace does not hold the bytes of ${sha256}; send them.`);
}
