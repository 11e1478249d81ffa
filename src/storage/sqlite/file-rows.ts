import type { Entry, FileRecord, FolderRecord } from '../ports/files.store.js';
import type { SqliteDatabase } from './database.js';
import { updateAbove } from './implied-folders.js';
import { toVersion, VERSION_COLUMNS, type VersionRow } from './version-rows.js';

/** Selects what `toEntry` reads; names the index if SQLite might choose one that reads more. */
export const selectFiles = (
  index?: string,
): string => `SELECT f.file_id, f.folder, f.path, f.doc_path, f.revision, f.last_number, f.created_at,
  f.updated_at, f.deleted_at, f.holder, ${VERSION_COLUMNS}
  FROM files f ${index === undefined ? '' : `INDEXED BY ${index}`} LEFT JOIN file_versions v ON v.file = f.id AND v.number = f.head`;

/** The columns of `selectFiles`. */
export type FileRow = [
  ...[fileId: string, folder: number, path: string, docPath: string, revision: number, lastNumber: number],
  ...[createdAt: number, updatedAt: number, deletedAt: number | null, holder: string],
  ...VersionRow,
];

/** A file or folder as it was stored. */
export function toEntry(workspaceId: string, row: FileRow): Entry {
  const [id, folder, path, docPath, revision, lastNumber, createdAt, updatedAt, deletedAt, ...rest] = row;
  const [holder, ...head] = rest;
  const common = { id, workspaceId, path, docPath, createdAt, holder };
  if (folder === 1) return { kind: 'folder', ...common };
  return { kind: 'file', ...common, revision, lastNumber, head: toVersion(head), updatedAt, deletedAt };
}

/** Same as `toEntry` for a row that is known to be a file's. */
export function toFile(workspaceId: string, row: FileRow): FileRecord {
  return toEntry(workspaceId, row) as FileRecord;
}

/** Inserts a new file or folder and returns its key; null if its docPath is taken, or its id known. */
export function insertEntry(
  database: SqliteDatabase,
  workspace: number,
  entry: FileRecord | FolderRecord,
): number | null {
  const isFolder = entry.kind === 'folder';
  const { changes, lastInsertRowid } = database.run(
    `INSERT INTO files (workspace, file_id, folder, path, doc_path, revision, head, last_number, created_at,
      updated_at, deleted_at, holder) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    [
      ...[workspace, entry.id, Number(isFolder), entry.path, entry.docPath],
      ...(isFolder ? [1, 0, 0] : [entry.revision, entry.head.number, entry.lastNumber]),
      ...(isFolder ? [entry.createdAt, entry.createdAt] : [entry.createdAt, entry.updatedAt]),
      isFolder ? null : entry.deletedAt,
      entry.holder,
    ],
  );
  return changes === 1 ? Number(lastInsertRowid) : null;
}

/** Whether a file or folder with this id exists or existed. */
export function isIdTaken(database: SqliteDatabase, workspace: number, id: string): boolean {
  return database.get('SELECT 1 FROM files WHERE file_id = ? AND workspace = ?', [id, workspace]) !== null;
}

/** A written file row: its key, and the change of the number of live files. */
export interface UpdatedFile {
  key: number;
  files: number;
}

/** Updates the file's row if its revision is the expected one and no other is live at its docPath; else null. */
export function updateFile(
  database: SqliteDatabase,
  workspace: number,
  file: FileRecord,
  expectedRevision: number,
): UpdatedFile | null {
  const current = database.get<[number, string, string, number | null]>(
    `SELECT id, path, doc_path, deleted_at FROM files
     WHERE file_id = ? AND workspace = ? AND revision = ? AND folder = 0`,
    [file.id, workspace, expectedRevision],
  );
  if (current === null) return null;
  const [key, path, docPath, deletedAt] = current;
  const { revision, head, lastNumber, updatedAt, holder } = file;
  const state = [revision, head.number, lastNumber, updatedAt, holder];
  const set = 'revision = ?, head = ?, last_number = ?, updated_at = ?, holder = ?';
  if (path === file.path && deletedAt === file.deletedAt) {
    database.run(`UPDATE files SET ${set} WHERE id = ?`, [...state, key]);
    return { key, files: 0 };
  }
  const { changes } = database.run(
    `UPDATE OR IGNORE files SET ${set}, path = ?, doc_path = ?, deleted_at = ? WHERE id = ?`,
    [...state, file.path, file.docPath, file.deletedAt, key],
  );
  if (changes === 0) return null;
  updateAbove(database, workspace, docPath);
  if (docPath !== file.docPath) updateAbove(database, workspace, file.docPath);
  return { key, files: Number(file.deletedAt === null) - Number(deletedAt === null) };
}

/** Removes a folder; false if it is not live. */
export function removeFolder(
  database: SqliteDatabase,
  workspace: number,
  folder: FolderRecord,
  deletedAt: number,
): boolean {
  const { changes } = database.run(
    'UPDATE files SET deleted_at = ? WHERE file_id = ? AND workspace = ? AND folder = 1 AND deleted_at IS NULL',
    [deletedAt, folder.id, workspace],
  );
  return changes === 1;
}

/** Whether the folder was removed at exactly this time. */
export function wasRemovedAt(
  database: SqliteDatabase,
  workspace: number,
  folder: FolderRecord,
  deletedAt: number,
): boolean {
  const sql = 'SELECT 1 FROM files WHERE file_id = ? AND workspace = ? AND folder = 1 AND deleted_at = ?';
  return database.get(sql, [folder.id, workspace, deletedAt]) !== null;
}
