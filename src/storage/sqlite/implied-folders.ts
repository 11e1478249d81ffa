import type { Folder } from '../ports/files.store.js';
import type { SqliteDatabase } from './database.js';

/**
 * A row of `implied_folders` is a folder without a live record and with something live below it. The job of each
 * write updates them, so that listings need no extra work.
 */

const OF_DOC_PATH = 'workspace = ? AND doc_path = ?';

/** Selects, like `SELECT_LISTED`, the implied folders that no file covers. */
export const SELECT_IMPLIED = `SELECT 1, i.path, i.doc_path, i.created_at FROM implied_folders i
  WHERE NOT EXISTS (SELECT 1 FROM files f WHERE f.workspace = i.workspace AND f.doc_path = i.doc_path
    AND f.deleted_at IS NULL)`;

/** The implied folder at a docPath; null if there is none. */
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

/** Updates the folders above a docPath after something there changed; call it in the same job. */
export function updateAbove(database: SqliteDatabase, workspace: number, docPath: string): void {
  for (let above = folderOf(docPath); above !== ''; above = folderOf(above)) {
    // A created folder keeps those above it in existence, whatever it contains.
    if (isMade(database, workspace, above)) return;
    update(database, workspace, above);
  }
}

/** Same as `updateAbove`, including the docPath itself, at which a folder was created or removed. */
export function updateFrom(database: SqliteDatabase, workspace: number, docPath: string): void {
  update(database, workspace, docPath);
  updateAbove(database, workspace, docPath);
}

function update(database: SqliteDatabase, workspace: number, docPath: string): void {
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

/** Path and creation time of something in a folder; null if it is empty. */
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
