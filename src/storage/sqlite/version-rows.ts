import type { ContentShape, FileSource, FileVersion } from '../ports/files.store.js';
import { hashBytes } from './blobs.js';
import type { SqliteDatabase } from './database.js';
import type { SqlValue } from './values.js';

const COLUMNS = [
  ...['number', 'version_id', 'sha256', 'size_bytes', 'shape', 'author', 'source'],
  ...['batch_id', 'file_patch_id', 'call_id', 'conflict', 'created_at', 'executable'],
];

const INSERT = `INSERT INTO file_versions (file, ${COLUMNS.join(', ')})
  VALUES (${COLUMNS.map(() => '?').join(', ')}, ?)`;

/** The columns that `toVersion` reads, of a version `v`. */
export const VERSION_COLUMNS = COLUMNS.map((column) => `v.${column}`).join(', ');

type Text = string | null;
export type VersionRow = [
  ...[number: number, id: string, sha256: Uint8Array, sizeBytes: number, shape: string, author: string],
  ...[source: string, batchId: Text, filePatchId: Text, callId: Text, conflict: number, createdAt: number],
  executable: number | null,
];

/** A version as it was stored. */
export function toVersion(row: VersionRow): FileVersion {
  const [
    number,
    id,
    sha256,
    sizeBytes,
    shape,
    author,
    source,
    batchId,
    filePatchId,
    callId,
    conflict,
    createdAt,
    executable,
  ] = row;
  return {
    id,
    number,
    sha256: Buffer.from(sha256).toString('hex'),
    sizeBytes,
    shape: shape as ContentShape,
    isExecutable: executable === null ? null : executable === 1,
    author,
    source: source as FileSource,
    batchId,
    filePatchId,
    callId,
    conflict: conflict === 1,
    createdAt,
  };
}

/** Inserts a version of the file with this key; call it in the job that writes the file. */
export function insertVersion(database: SqliteDatabase, file: number, version: FileVersion): void {
  const { number, id, sha256, sizeBytes, shape, author, source, isExecutable } = version;
  database.run(INSERT, [
    ...[file, number, id, hashBytes(sha256), sizeBytes, shape, author, source],
    ...[version.batchId, version.filePatchId, version.callId, Number(version.conflict), version.createdAt],
    isExecutable === null ? null : Number(isExecutable),
  ]);
}

/** Whether the file has this version. */
export function hasVersion(database: SqliteDatabase, fileId: string, versionId: string): boolean {
  const sql = `SELECT 1 FROM file_versions v JOIN files f ON f.id = v.file WHERE v.version_id = ? AND f.file_id = ?`;
  return database.get(sql, [versionId, fileId]) !== null;
}

/** Versions of a file of the workspace. */
export function versionsOf(
  database: SqliteDatabase,
  workspace: number,
  fileId: string,
  where: string,
  values: readonly SqlValue[],
): FileVersion[] {
  return database
    .all<VersionRow>(
      `SELECT ${VERSION_COLUMNS} FROM file_versions v
       WHERE v.file = (SELECT id FROM files WHERE file_id = ? AND workspace = ? AND folder = 0) AND ${where}`,
      [fileId, workspace, ...values],
    )
    .map(toVersion);
}
