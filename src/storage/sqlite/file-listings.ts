import type { FileCursor, FileFilter, FileRecord, ListedEntry } from '../ports/files.store.js';
import type { SqliteDatabase } from './database.js';
import { type FileRow, selectFiles, toFile } from './file-rows.js';
import { SELECT_IMPLIED } from './implied-folders.js';
import { prefixEnd } from '../prefix-end.js';
import type { SqlValue } from './values.js';

const SELECT_LIVE = 'SELECT folder, path, doc_path, updated_at FROM files WHERE deleted_at IS NULL';

/** Entries of one folder, by path. */
export function childrenOf(
  database: SqliteDatabase,
  workspace: number,
  folderDocPath: string,
  afterPath: string | null,
  limit: number,
): ListedEntry[] {
  const where = 'workspace = ? AND parent_path = ? AND path > ?';
  return listed(database, where, [workspace, folderDocPath, afterPath ?? ''], 'path', limit);
}

/** Entries anywhere below a folder, by docPath. */
export function below(
  database: SqliteDatabase,
  workspace: number,
  folderDocPath: string,
  afterDocPath: string | null,
  limit: number,
): ListedEntry[] {
  const prefix = folderDocPath === '' ? '' : `${folderDocPath}/`;
  const end = prefixEnd(prefix);
  const where = `workspace = ? AND doc_path > ?${end === null ? '' : ' AND doc_path < ?'}`;
  const values = [workspace, afterDocPath ?? prefix, ...(end === null ? [] : [end])];
  return listed(database, where, values, 'doc_path', limit);
}

/** Files by docPath. */
export function page(
  database: SqliteDatabase,
  [workspace, workspaceId]: [number, string],
  { docPrefix, deleted }: FileFilter,
  after: FileCursor | null,
  limit: number,
): FileRecord[] {
  const end = prefixEnd(docPrefix);
  // A single lower bound: of two, SQLite may start at the lower one.
  const from = after?.docPath.startsWith(docPrefix) ? after.docPath : docPrefix;
  const where = [
    `f.workspace = ? AND f.folder = 0 AND f.deleted_at IS ${deleted ? 'NOT NULL' : 'NULL'} AND f.doc_path >= ?`,
    ...(end === null ? [] : ['f.doc_path < ?']),
    ...(after === null ? [] : ['(f.doc_path > ? OR (f.doc_path = ? AND f.file_id > ?))']),
  ];
  const order = `f.doc_path${deleted ? ', f.file_id' : ''}`;
  const found = database.all<FileRow>(
    `${selectFiles(deleted ? 'files_deleted' : 'files_listed')} WHERE ${where.join(' AND ')}
     ORDER BY ${order} LIMIT ?`,
    [
      ...[workspace, from],
      ...(end === null ? [] : [end]),
      ...(after === null ? [] : [after.docPath, after.docPath, after.id]),
      limit,
    ],
  );
  return found.map((row) => toFile(workspaceId, row));
}

/** Merges created entries and implied folders, both read in the order of their indexes. */
function listed(
  database: SqliteDatabase,
  where: string,
  values: readonly SqlValue[],
  order: 'path' | 'doc_path',
  limit: number,
): ListedEntry[] {
  const sql = `${SELECT_LIVE} AND ${where} UNION ALL ${SELECT_IMPLIED} AND ${where} ORDER BY ${order} LIMIT ?`;
  return database
    .all<[number, string, string, number]>(sql, [...values, ...values, limit])
    .map(([folder, path, docPath, updatedAt]) => ({
      kind: folder === 1 ? 'folder' : 'file',
      path,
      docPath,
      updatedAt,
    }));
}
