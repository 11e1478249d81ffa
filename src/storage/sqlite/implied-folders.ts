import type { Folder } from '../ports/files.store.js';
import type { SqliteDatabase } from './database.js';

/*
 * A row of `implied_folders` stands for a folder that has no live record and something live below it. The rows are
 * brought up to date in the job of each write, so that a listing costs the same with them as without.
 */

const OF_DOC_PATH = 'workspace = ? AND doc_path = ?';

/** Selects, as `SELECT_LISTED` does, the implied folders that no file covers. */
export const SELECT_IMPLIED = `SELECT 1, i.path, i.doc_path, i.created_at FROM implied_folders i
  WHERE NOT EXISTS (SELECT 1 FROM files f WHERE f.workspace = i.workspace AND f.doc_path = i.doc_path
    AND f.deleted_at IS NULL)`;

/** The implied folder at a docPath; null where there is none. */
export function impliedFolder(
  database: SqliteDatabase,
  workspaceId: string,
  workspace: number,
  docPath: string,
): Folder | null {
  const row = database.get<[string, number]>(
    `SELECT path, created_at FROM implied_folders WHERE ${OF_DOC_PATH}`,
    [workspace, docPath],
  );
  if (row === null) return null;
  const [path, createdAt] = row;
  return { kind: 'folder', id: null, workspaceId, path, docPath, createdAt };
}

/** Brings the folders above a docPath up to date after something came there, went, or changed; inside its job. */
export function settleAbove(database: SqliteDatabase, workspace: number, docPath: string): void {
  for (let above = folderOf(docPath); above !== ''; above = folderOf(above)) {
    // A folder that was made is reason enough for those above it, whatever is in it.
    if (isMade(database, workspace, above)) return;
    settle(database, workspace, above);
  }
}

/** The same for a docPath at which a folder was made or removed, and those above it. */
export function settleFrom(database: SqliteDatabase, workspace: number, docPath: string): void {
  settle(database, workspace, docPath);
  settleAbove(database, workspace, docPath);
}

function settle(database: SqliteDatabase, workspace: number, docPath: string): void {
  const child = isMade(database, workspace, docPath) ? null : firstChild(database, workspace, docPath);
  if (child === null) {
    database.run(`DELETE FROM implied_folders WHERE ${OF_DOC_PATH}`, [workspace, docPath]);
    return;
  }
  const [path, createdAt] = child;
  database.run(
    `INSERT INTO implied_folders (workspace, doc_path, path, created_at) VALUES (?, ?, ?, ?)
     ON CONFLICT (workspace, doc_path) DO UPDATE SET path = excluded.path, created_at = excluded.created_at`,
    [workspace, docPath, folderOf(path), createdAt],
  );
}

function isMade(database: SqliteDatabase, workspace: number, docPath: string): boolean {
  const live = `SELECT folder FROM files WHERE ${OF_DOC_PATH} AND deleted_at IS NULL`;
  return database.get<[number]>(live, [workspace, docPath])?.[0] === 1;
}

/** Path and birth of something in a folder; null where it is empty. */
function firstChild(
  database: SqliteDatabase,
  workspace: number,
  docPath: string,
): [path: string, createdAt: number] | null {
  const inFolder = 'WHERE workspace = ? AND parent_path = ?';
  return (
    database.get<[string, number]>(
      `SELECT path, created_at FROM files ${inFolder} AND deleted_at IS NULL ORDER BY path LIMIT 1`,
      [workspace, docPath],
    ) ??
    database.get<[string, number]>(
      `SELECT path, created_at FROM implied_folders ${inFolder} ORDER BY path LIMIT 1`,
      [workspace, docPath],
    )
  );
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}
