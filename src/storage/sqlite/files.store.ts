import { isDeepStrictEqual } from 'node:util';
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
import { hashBytes, referToBlob } from './blobs.js';
import type { Usage } from '../ports/usage.store.js';
import { count } from './usage-rows.js';
import { SqliteDatabase } from './database.js';
import * as listings from './file-listings.js';
import * as rows from './file-rows.js';
import { impliedFolder, updateAbove, updateFrom } from './implied-folders.js';
import { requireMember } from './members.js';
import { TrailLog } from './trail-log.js';
import type { SqlValue } from './values.js';
import { hasVersion, insertVersion, versionsOf } from './version-rows.js';
import { WorkspaceKeys } from './workspace-keys.js';

/** The outcome of a write; a retry that succeeded before is `made before`. */
type Outcome = 'made' | 'made before' | 'refused';

/** Called if a condition failed: the write may be a retry, so only then is its event searched. */
function refusedUnless(madeBefore: boolean): Outcome {
  return madeBefore ? 'made before' : 'refused';
}

@Injectable()
export class SqliteFileStore extends FileStore {
  private readonly trail: TrailLog;

  constructor(
    private readonly database: SqliteDatabase,
    private readonly workspaces: WorkspaceKeys,
  ) {
    super();
    this.trail = database.part(TrailLog);
  }

  insert(file: FileRecord, bytes: VersionBytes, events: readonly AuditDraft[]): Promise<boolean> {
    return this.change(file.workspaceId, events, (workspace) => {
      const key = rows.insertEntry(this.database, workspace, file);
      if (key === null) return refusedUnless(rows.isIdTaken(this.database, workspace, file.id));
      this.insertVersion(file.workspaceId, workspace, key, file.head, bytes);
      if (file.deletedAt === null) {
        this.count(file, { files: 1 });
        updateAbove(this.database, workspace, file.docPath);
      }
      return 'made';
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
      const updated = rows.updateFile(this.database, workspace, file, expectedRevision);
      if (updated !== null) {
        this.count(file, updated);
        return 'made';
      }
      const [event] = events;
      if (event) return refusedUnless(this.trail.unrecorded(workspace, [event]).length === 0);
      return refusedUnless(isDeepStrictEqual(this.fileOf(file.workspaceId, file.id), file));
    });
  }

  insertFolder(folder: FolderRecord, events: readonly AuditDraft[]): Promise<boolean> {
    return this.change(folder.workspaceId, events, (workspace) => {
      const key = rows.insertEntry(this.database, workspace, folder);
      if (key === null) return refusedUnless(rows.isIdTaken(this.database, workspace, folder.id));
      this.count(folder, { files: 1, versions: 1 });
      updateFrom(this.database, workspace, folder.docPath);
      return 'made';
    });
  }

  removeFolder(folder: FolderRecord, deletedAt: number, events: readonly AuditDraft[]): Promise<boolean> {
    return this.change(folder.workspaceId, events, (workspace) => {
      if (!rows.removeFolder(this.database, workspace, folder, deletedAt)) {
        const [event] = events;
        if (event) return refusedUnless(this.trail.unrecorded(workspace, [event]).length === 0);
        return refusedUnless(rows.wasRemovedAt(this.database, workspace, folder, deletedAt));
      }
      this.count(folder, { files: -1 });
      updateFrom(this.database, workspace, folder.docPath);
      return 'made';
    });
  }

  async at(workspaceId: string, docPath: string): Promise<Entry | null> {
    const where = 'f.workspace = ? AND f.doc_path = ? AND f.deleted_at IS NULL';
    return (
      this.entry(workspaceId, where, [docPath]) ??
      this.inWorkspace(workspaceId, null, (workspace) =>
        impliedFolder(this.database, workspaceId, workspace, docPath),
      )
    );
  }

  async lastDeletedAt(workspaceId: string, docPath: string): Promise<FileRecord | null> {
    const where = `f.workspace = ? AND f.doc_path = ? AND f.deleted_at IS NOT NULL AND f.folder = 0
      ORDER BY f.deleted_at DESC, f.file_id DESC LIMIT 1`;
    return this.entry(workspaceId, where, [docPath], 'files_deleted_last') as FileRecord | null;
  }

  async byId(workspaceId: string, fileId: string): Promise<FileRecord | null> {
    return this.fileOf(workspaceId, fileId);
  }

  async childrenOf(
    workspaceId: string,
    folderDocPath: string,
    afterPath: string | null,
    limit: number,
  ): Promise<ListedEntry[]> {
    return this.inWorkspace(workspaceId, [], (workspace) =>
      listings.childrenOf(this.database, workspace, folderDocPath, afterPath, limit),
    );
  }

  async below(
    workspaceId: string,
    folderDocPath: string,
    afterDocPath: string | null,
    limit: number,
  ): Promise<ListedEntry[]> {
    return this.inWorkspace(workspaceId, [], (workspace) =>
      listings.below(this.database, workspace, folderDocPath, afterDocPath, limit),
    );
  }

  async page(
    workspaceId: string,
    filter: FileFilter,
    after: FileCursor | null,
    limit: number,
  ): Promise<FileRecord[]> {
    return this.inWorkspace(workspaceId, [], (workspace) =>
      listings.page(this.database, [workspace, workspaceId], filter, after, limit),
    );
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
      const updated = rows.updateFile(this.database, workspace, file, expectedRevision);
      if (updated === null) return refusedUnless(hasVersion(this.database, file.id, version.id));
      this.insertVersion(file.workspaceId, workspace, updated.key, version, bytes);
      this.count(file, updated);
      return 'made';
    });
  }

  private insertVersion(
    workspaceId: string,
    workspace: number,
    file: number,
    version: FileVersion,
    bytes: VersionBytes,
  ): void {
    const { author: userId, sha256 } = version;
    referToBlob(this.database, { workspaceId, workspace, userId }, sha256, bytes);
    insertVersion(this.database, file, version);
    count(this.database, workspaceId, userId, { versions: 1 });
  }

  /** Files and folders count for their holder. */
  private count(
    { workspaceId, holder }: Pick<FileRecord, 'workspaceId' | 'holder'>,
    { files = 0, versions = 0 }: Partial<Usage>,
  ): void {
    if (files !== 0 || versions !== 0) count(this.database, workspaceId, holder, { files, versions });
  }

  /** Runs a write and, if it changed something, appends its events. */
  private async change(
    workspaceId: string,
    events: readonly AuditDraft[],
    write: (workspace: number) => Outcome,
  ): Promise<boolean> {
    const workspace = this.workspaces.require(workspaceId);
    const writer = events[0]?.actor.userId ?? null;
    return this.database.write(() => {
      if (writer !== null) requireMember(this.database, workspace, writer);
      const outcome = write(workspace);
      if (outcome === 'made') this.trail.append(workspace, events);
      return outcome !== 'refused';
    });
  }

  private fileOf(workspaceId: string, fileId: string): FileRecord | null {
    const where = 'f.workspace = ? AND f.file_id = ? AND f.folder = 0';
    return this.entry(workspaceId, where, [fileId]) as FileRecord | null;
  }

  private entry(
    workspaceId: string,
    where: string,
    values: readonly SqlValue[],
    index?: string,
  ): Entry | null {
    return this.inWorkspace(workspaceId, null, (workspace) => {
      const sql = `${rows.selectFiles(index)} WHERE ${where}`;
      const row = this.database.get<rows.FileRow>(sql, [workspace, ...values]);
      return row === null ? null : rows.toEntry(workspaceId, row);
    });
  }

  private versions(
    workspaceId: string,
    fileId: string,
    where: string,
    values: readonly SqlValue[],
  ): FileVersion[] {
    return this.inWorkspace(workspaceId, [], (workspace) =>
      versionsOf(this.database, workspace, fileId, where, values),
    );
  }

  /** Reads from the workspace; returns `none` if it does not exist. */
  private inWorkspace<T>(workspaceId: string, none: T, read: (workspace: number) => T): T {
    const workspace = this.workspaces.find(workspaceId);
    return workspace === null ? none : read(workspace);
  }
}
