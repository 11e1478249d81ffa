import { Injectable } from '@nestjs/common';
import type { AuditDraft } from '../ports/audit.store.js';
import {
  type Entry,
  type FileCursor,
  type FileFilter,
  type FileRecord,
  FileStore,
  type FileVersion,
  type FolderRecord,
  type ListedEntry,
  type VersionBytes,
} from '../ports/files.store.js';
import { appendEvents } from './audit-rows.js';
import { hashBytes, referToBlob } from './blobs.js';
import { SqliteDatabase } from './database.js';
import * as rows from './file-rows.js';
import { prefixEnd } from './prefix-end.js';
import type { SqlValue } from './values.js';
import { WorkspaceKeys } from './workspace-keys.js';

@Injectable()
export class SqliteFileStore extends FileStore {
  constructor(
    private readonly database: SqliteDatabase,
    private readonly workspaces: WorkspaceKeys,
  ) {
    super();
  }

  insert(file: FileRecord, bytes: VersionBytes, events: readonly AuditDraft[]): Promise<boolean> {
    return this.change(file.workspaceId, events, (workspace) => {
      const place = file.deletedAt === null ? rows.freePlace(this.database, workspace, file) : rows.ROOT;
      if (place === null) return false;
      referToBlob(this.database, workspace, file.head.sha256, bytes);
      rows.insertVersion(this.database, rows.insertEntry(this.database, workspace, place, file), file.head);
      return true;
    });
  }

  commitVersion(
    file: FileRecord,
    expectedRevision: number,
    bytes: VersionBytes,
    events: readonly AuditDraft[],
  ): Promise<boolean> {
    return this.addVersion(file, expectedRevision, file.head, bytes, events);
  }

  keepConflict(
    file: FileRecord,
    expectedRevision: number,
    version: FileVersion,
    bytes: VersionBytes,
    events: readonly AuditDraft[],
  ): Promise<boolean> {
    return this.addVersion(file, expectedRevision, version, bytes, events);
  }

  save(file: FileRecord, expectedRevision: number, events: readonly AuditDraft[]): Promise<boolean> {
    return this.change(file.workspaceId, events, (workspace) => {
      return this.update(workspace, file, expectedRevision) !== null;
    });
  }

  insertFolder(folder: FolderRecord, events: readonly AuditDraft[]): Promise<boolean> {
    return this.change(folder.workspaceId, events, (workspace) => {
      const place = rows.freePlace(this.database, workspace, folder);
      if (place === null) return false;
      rows.insertEntry(this.database, workspace, place, folder);
      return true;
    });
  }

  removeFolder(folder: FolderRecord, deletedAt: number, events: readonly AuditDraft[]): Promise<boolean> {
    return this.change(folder.workspaceId, events, (workspace) => {
      const row = this.database.get<[number]>(
        `SELECT id FROM files f WHERE file_id = ? AND workspace = ? AND folder = 1 AND deleted_at IS NULL
         AND NOT EXISTS (SELECT 1 FROM files c WHERE c.workspace = f.workspace AND c.parent = f.id
           AND c.deleted_at IS NULL)`,
        [folder.id, workspace],
      );
      if (row === null) return false;
      this.database.run('UPDATE files SET deleted_at = ? WHERE id = ?', [deletedAt, row[0]]);
      return true;
    });
  }

  async at(workspaceId: string, docPath: string): Promise<Entry | null> {
    const where = 'f.workspace = ? AND f.doc_path = ? AND f.deleted_at IS NULL';
    return this.entry(workspaceId, where, [docPath]);
  }

  async lastDeletedAt(workspaceId: string, docPath: string): Promise<FileRecord | null> {
    const where = `f.workspace = ? AND f.doc_path = ? AND f.deleted_at IS NOT NULL AND f.folder = 0
      ORDER BY f.deleted_at DESC, f.file_id DESC LIMIT 1`;
    return this.entry(workspaceId, where, [docPath]) as FileRecord | null;
  }

  async byId(workspaceId: string, fileId: string): Promise<FileRecord | null> {
    const where = 'f.workspace = ? AND f.file_id = ? AND f.folder = 0';
    return this.entry(workspaceId, where, [fileId]) as FileRecord | null;
  }

  async childrenOf(
    workspaceId: string,
    folderDocPath: string,
    afterPath: string | null,
    limit: number,
  ): Promise<ListedEntry[]> {
    const workspace = this.workspaces.find(workspaceId);
    const folder = workspace === null ? null : rows.folderKey(this.database, workspace, folderDocPath);
    if (folder === null) return [];
    const where = 'workspace = ? AND parent = ? AND deleted_at IS NULL AND path > ? ORDER BY path';
    return this.listed(where, [workspace, folder, afterPath ?? '', limit]);
  }

  async below(
    workspaceId: string,
    folderDocPath: string,
    afterDocPath: string | null,
    limit: number,
  ): Promise<ListedEntry[]> {
    const workspace = this.workspaces.find(workspaceId);
    if (workspace === null) return [];
    const prefix = folderDocPath === '' ? '' : `${folderDocPath}/`;
    const end = prefixEnd(prefix);
    const where = `workspace = ? AND doc_path > ? ${end === null ? '' : 'AND doc_path < ?'} AND deleted_at IS NULL
      ORDER BY doc_path`;
    return this.listed(where, [
      ...[workspace, afterDocPath ?? prefix],
      ...(end === null ? [] : [end]),
      limit,
    ]);
  }

  async page(
    workspaceId: string,
    { docPrefix, deleted }: FileFilter,
    after: FileCursor | null,
    limit: number,
  ): Promise<FileRecord[]> {
    const workspace = this.workspaces.find(workspaceId);
    if (workspace === null) return [];
    const end = prefixEnd(docPrefix);
    // One lower bound only: of two, SQLite may begin at the one that is further away.
    const from = after?.docPath.startsWith(docPrefix) ? after.docPath : docPrefix;
    const where = [
      `f.workspace = ? AND f.folder = 0 AND f.deleted_at IS ${deleted ? 'NOT NULL' : 'NULL'} AND f.doc_path >= ?`,
      ...(end === null ? [] : ['f.doc_path < ?']),
      ...(after === null ? [] : ['(f.doc_path > ? OR (f.doc_path = ? AND f.file_id > ?))']),
    ];
    const found = this.database.all<rows.FileRow>(
      `${rows.SELECT_FILES} WHERE ${where.join(' AND ')} ORDER BY f.doc_path${deleted ? ', f.file_id' : ''} LIMIT ?`,
      [
        ...[workspace, from],
        ...(end === null ? [] : [end]),
        ...(after === null ? [] : [after.docPath, after.docPath, after.id]),
        limit,
      ],
    );
    return found.map((row) => rows.toFile(workspaceId, row));
  }

  async versionsOf(
    workspaceId: string,
    fileId: string,
    beforeNumber: number | null,
    limit: number,
  ): Promise<FileVersion[]> {
    const where = 'number < ? ORDER BY number DESC LIMIT ?';
    return this.versions(workspaceId, fileId, where, [beforeNumber ?? Number.MAX_SAFE_INTEGER, limit]);
  }

  async versionOf(workspaceId: string, fileId: string, versionId: string): Promise<FileVersion | null> {
    return this.versions(workspaceId, fileId, 'version_id = ?', [versionId])[0] ?? null;
  }

  async conflictOf(workspaceId: string, fileId: string, sha256: string): Promise<FileVersion | null> {
    const where = 'sha256 = ? AND conflict = 1 ORDER BY number LIMIT 1';
    return this.versions(workspaceId, fileId, where, [hashBytes(sha256)])[0] ?? null;
  }

  async versionOfPatch(
    workspaceId: string,
    filePatchId: string,
    sha256: string,
  ): Promise<{ fileId: string; version: FileVersion } | null> {
    const workspace = this.workspaces.find(workspaceId);
    if (workspace === null) return null;
    const [row] = this.database.all<[string]>(
      `SELECT f.file_id FROM file_versions v JOIN files f ON f.id = v.file
       WHERE v.file_patch_id = ? AND v.sha256 = ? AND f.workspace = ? LIMIT 1`,
      [filePatchId, hashBytes(sha256), workspace],
    );
    if (row === undefined) return null;
    const where = 'file_patch_id = ? AND sha256 = ? ORDER BY number LIMIT 1';
    const [version] = this.versions(workspaceId, row[0], where, [filePatchId, hashBytes(sha256)]);
    return { fileId: row[0], version: version! };
  }

  private addVersion(
    file: FileRecord,
    expectedRevision: number,
    version: FileVersion,
    bytes: VersionBytes,
    events: readonly AuditDraft[],
  ): Promise<boolean> {
    return this.change(file.workspaceId, events, (workspace) => {
      const key = this.update(workspace, file, expectedRevision);
      if (key === null) return false;
      referToBlob(this.database, workspace, version.sha256, bytes);
      rows.insertVersion(this.database, key, version);
      return true;
    });
  }

  /** Runs a change and, where it was made, appends its events. */
  private async change(
    workspaceId: string,
    events: readonly AuditDraft[],
    make: (workspace: number) => boolean,
  ): Promise<boolean> {
    const workspace = this.workspaces.require(workspaceId);
    return this.database.write(() => {
      const made = make(workspace);
      if (made) appendEvents(this.database, workspace, events);
      return made;
    });
  }

  /** Writes the file's row where its revision is the expected one and its place is free; gives the row's key. */
  private update(workspace: number, file: FileRecord, expectedRevision: number): number | null {
    const current = this.database.get<[number, number, string, number | null]>(
      `SELECT id, parent, path, deleted_at FROM files
       WHERE file_id = ? AND workspace = ? AND revision = ? AND folder = 0`,
      [file.id, workspace, expectedRevision],
    );
    if (current === null) return null;
    const [key, parent, path, deletedAt] = current;
    const { revision, head, lastNumber, updatedAt } = file;
    const state: SqlValue[] = [revision, head.number, lastNumber, updatedAt];
    const set = 'revision = ?, head = ?, last_number = ?, updated_at = ?';
    if (path === file.path && deletedAt === file.deletedAt) {
      this.database.run(`UPDATE files SET ${set} WHERE id = ?`, [...state, key]);
      return key;
    }
    // The path's own row is no obstacle to a new spelling, and a file that is deleted needs no place.
    if (deletedAt === null) this.database.run('UPDATE files SET deleted_at = 0 WHERE id = ?', [key]);
    const place = file.deletedAt === null ? rows.freePlace(this.database, workspace, file) : parent;
    if (place === null) {
      if (deletedAt === null) this.database.run('UPDATE files SET deleted_at = NULL WHERE id = ?', [key]);
      return null;
    }
    this.database.run(
      `UPDATE files SET ${set}, parent = ?, path = ?, doc_path = ?, deleted_at = ? WHERE id = ?`,
      [...state, place, file.path, file.docPath, file.deletedAt, key],
    );
    return key;
  }

  private entry(workspaceId: string, where: string, values: readonly SqlValue[]): Entry | null {
    const workspace = this.workspaces.find(workspaceId);
    if (workspace === null) return null;
    const sql = `${rows.SELECT_FILES} WHERE ${where}`;
    const row = this.database.get<rows.FileRow>(sql, [workspace, ...values]);
    return row === null ? null : rows.toEntry(workspaceId, row);
  }

  private listed(where: string, values: readonly SqlValue[]): ListedEntry[] {
    const sql = `SELECT folder, path, doc_path, updated_at FROM files WHERE ${where} LIMIT ?`;
    return this.database
      .all<[number, string, string, number]>(sql, values)
      .map(([folder, path, docPath, updatedAt]) => ({
        kind: folder === 1 ? 'folder' : 'file',
        path,
        docPath,
        updatedAt,
      }));
  }

  private versions(
    workspaceId: string,
    fileId: string,
    where: string,
    values: readonly SqlValue[],
  ): FileVersion[] {
    const workspace = this.workspaces.find(workspaceId);
    if (workspace === null) return [];
    return this.database
      .all<rows.VersionRow>(
        `${rows.SELECT_VERSIONS}
         WHERE v.file = (SELECT id FROM files WHERE file_id = ? AND workspace = ? AND folder = 0) AND ${where}`,
        [fileId, workspace, ...values],
      )
      .map(rows.toVersion);
  }
}
