import type {
  ContentShape,
  Entry,
  FileRecord,
  FileSource,
  FileVersion,
  FolderRecord,
} from '../ports/files.store.js';
import { hashBytes } from './blobs.js';
import type { SqliteDatabase } from './database.js';

/** The row of the root folder, which is not stored. */
export const ROOT = 0;

const VERSION_COLUMNS = [
  ...['number', 'version_id', 'sha256', 'size_bytes', 'shape', 'author', 'source'],
  ...['batch_id', 'file_patch_id', 'call_id', 'conflict', 'created_at'],
];

const INSERT_VERSION = `INSERT INTO file_versions (file, ${VERSION_COLUMNS.join(', ')})
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** Selects what `toVersion` reads. */
export const SELECT_VERSIONS = `SELECT ${VERSION_COLUMNS.map((column) => `v.${column}`).join(', ')}
  FROM file_versions v`;

/** Selects what `toEntry` reads. */
export const SELECT_FILES = `SELECT f.file_id, f.folder, f.path, f.doc_path, f.revision, f.last_number, f.created_at,
  f.updated_at, f.deleted_at, ${VERSION_COLUMNS.map((column) => `v.${column}`).join(', ')}
  FROM files f LEFT JOIN file_versions v ON v.file = f.id AND v.number = f.head`;

type Text = string | null;
/** The columns of `SELECT_VERSIONS`. */
export type VersionRow = [
  ...[number: number, id: string, sha256: Uint8Array, sizeBytes: number, shape: string, author: string],
  ...[source: string, batchId: Text, filePatchId: Text, callId: Text, conflict: number, createdAt: number],
];
/** The columns of `SELECT_FILES`. */
export type FileRow = [
  ...[fileId: string, folder: number, path: string, docPath: string, revision: number, lastNumber: number],
  ...[createdAt: number, updatedAt: number, deletedAt: number | null],
  ...VersionRow,
];

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
  ] = row;
  return {
    id,
    number,
    sha256: Buffer.from(sha256).toString('hex'),
    sizeBytes,
    shape: shape as ContentShape,
    author,
    source: source as FileSource,
    batchId,
    filePatchId,
    callId,
    conflict: conflict === 1,
    createdAt,
  };
}

/** A file or folder as it was stored. */
export function toEntry(workspaceId: string, row: FileRow): Entry {
  const [id, folder, path, docPath, revision, lastNumber, createdAt, updatedAt, deletedAt, ...head] = row;
  const common = { id, workspaceId, path, docPath, createdAt };
  if (folder === 1) return { kind: 'folder', ...common };
  return { kind: 'file', ...common, revision, lastNumber, head: toVersion(head), updatedAt, deletedAt };
}

/** The same for a row that is known to be a file's. */
export function toFile(workspaceId: string, row: FileRow): FileRecord {
  return toEntry(workspaceId, row) as FileRecord;
}

export function insertVersion(database: SqliteDatabase, file: number, version: FileVersion): void {
  const { number, id, sha256, sizeBytes, shape, author, source } = version;
  database.run(INSERT_VERSION, [
    ...[file, number, id, hashBytes(sha256), sizeBytes, shape, author, source],
    ...[version.batchId, version.filePatchId, version.callId, Number(version.conflict), version.createdAt],
  ]);
}

/** Writes the row of a new file or folder and returns its key. */
export function insertEntry(
  database: SqliteDatabase,
  workspace: number,
  parent: number,
  entry: FileRecord | FolderRecord,
): number {
  const isFolder = entry.kind === 'folder';
  const { lastInsertRowid } = database.run(
    `INSERT INTO files (workspace, parent, file_id, folder, path, doc_path, revision, head, last_number, created_at,
      updated_at, deleted_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      ...[workspace, parent, entry.id, Number(isFolder), entry.path, entry.docPath],
      ...(isFolder ? [1, 0, 0] : [entry.revision, entry.head.number, entry.lastNumber]),
      ...(isFolder ? [entry.createdAt, entry.createdAt] : [entry.createdAt, entry.updatedAt]),
      isFolder ? null : entry.deletedAt,
    ],
  );
  return Number(lastInsertRowid);
}

/** Key of the live folder at a docPath, which must be spelt like `path`, if one is given; null where there is none. */
export function folderKey(
  database: SqliteDatabase,
  workspace: number,
  docPath: string,
  path?: string,
): number | null {
  if (docPath === '') return ROOT;
  const row = database.get<[number, string]>(
    'SELECT id, path FROM files WHERE workspace = ? AND doc_path = ? AND deleted_at IS NULL AND folder = 1',
    [workspace, docPath],
  );
  return row === null || (path !== undefined && row[1] !== path) ? null : row[0];
}

/** Where an entry would lie: the key of its folder; null where there is no such folder, or the path is taken. */
export function freePlace(
  database: SqliteDatabase,
  workspace: number,
  { path, docPath }: { path: string; docPath: string },
): number | null {
  const taken = database.get(
    'SELECT 1 FROM files WHERE workspace = ? AND doc_path = ? AND deleted_at IS NULL',
    [workspace, docPath],
  );
  if (taken !== null) return null;
  return folderKey(database, workspace, folderOf(docPath), folderOf(path));
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}
