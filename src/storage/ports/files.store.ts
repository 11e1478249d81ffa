import type { AuditDraft } from './audit.store.js';

/** Where the bytes of a version came from. */
export type FileSource = 'tool' | 'upload' | 'patch' | 'restore';

/** The shape in which `read` gives a version back: `{text}`, a plain string, or the JSON value that the bytes hold. */
export type ContentShape = 'text' | 'string' | 'json';

/** One version of a file; immutable. */
export interface FileVersion {
  id: string;
  /** 1 for the file's first version; every version has a number, also one that was never the head. */
  number: number;
  /** Lowercase hex of the bytes. */
  sha256: string;
  sizeBytes: number;
  shape: ContentShape;
  /** userId of whoever wrote it. */
  author: string;
  source: FileSource;
  batchId: string | null;
  filePatchId: string | null;
  callId: string | null;
  /** Kept because its base was stale: it never was the head. */
  conflict: boolean;
  createdAt: number;
}

/** A file with its head: one aggregate, guarded by `revision`. */
export interface FileRecord {
  kind: 'file';
  id: string;
  workspaceId: string;
  /** The Cloud path as it was first spelt, with its leading slash. */
  path: string;
  docPath: string;
  /** Counts the writes to the aggregate, from 1. */
  revision: number;
  /** Number of the newest version, head or not. */
  lastNumber: number;
  head: FileVersion;
  createdAt: number;
  /** When the head or the path last changed. */
  updatedAt: number;
  deletedAt: number | null;
}

/** A folder that was made and not removed. */
export interface FolderRecord {
  kind: 'folder';
  id: string;
  workspaceId: string;
  path: string;
  docPath: string;
  createdAt: number;
}

export type Entry = FileRecord | FolderRecord;

/** An entry as a listing shows it. */
export interface ListedEntry {
  kind: 'file' | 'folder';
  path: string;
  docPath: string;
  /** For a folder, when it was made. */
  updatedAt: number;
}

/** The bytes of a version that is written; null where the workspace holds them already under their sha256. */
export type VersionBytes = Uint8Array | null;

/** Which files a page is of. `docPrefix` is the beginning of a docPath, "" for all. */
export interface FileFilter {
  docPrefix: string;
  /** Deleted files instead of live ones. */
  deleted: boolean;
}

/** Where a page of files begins: behind this one. */
export type FileCursor = Pick<FileRecord, 'id' | 'docPath'>;

/**
 * Cloud files. A write takes the aggregate as it is to be and the events that record it; false, and nothing is
 * stored, where what the caller had read no longer holds: the revision, a free path, a folder for the path.
 */
export abstract class FileStore {
  /** Stores a new file, live or deleted, with its first version. Its folder must exist, and its path be free. */
  abstract insert(file: FileRecord, bytes: VersionBytes, events: readonly AuditDraft[]): Promise<boolean>;
  /** Adds `file.head`, a new version, as the head. Where the file was deleted it is live again, at `file.path`. */
  abstract commitVersion(
    file: FileRecord,
    expectedRevision: number,
    bytes: VersionBytes,
    events: readonly AuditDraft[],
  ): Promise<boolean>;
  /** Adds a version that does not become the head. */
  abstract keepConflict(
    file: FileRecord,
    expectedRevision: number,
    version: FileVersion,
    bytes: VersionBytes,
    events: readonly AuditDraft[],
  ): Promise<boolean>;
  /** Stores where the file now stands: at `file.path`, live or deleted. */
  abstract save(file: FileRecord, expectedRevision: number, events: readonly AuditDraft[]): Promise<boolean>;

  /** Makes a folder. Its own folder must exist, and its path be free. */
  abstract insertFolder(folder: FolderRecord, events: readonly AuditDraft[]): Promise<boolean>;
  /** Removes a folder that has nothing in it. */
  abstract removeFolder(
    folder: FolderRecord,
    deletedAt: number,
    events: readonly AuditDraft[],
  ): Promise<boolean>;

  /** What is live at a docPath. */
  abstract at(workspaceId: string, docPath: string): Promise<Entry | null>;
  /** The file that was deleted last at a docPath. */
  abstract lastDeletedAt(workspaceId: string, docPath: string): Promise<FileRecord | null>;
  /** The file of this id, live or deleted. */
  abstract byId(workspaceId: string, fileId: string): Promise<FileRecord | null>;
  /** Up to `limit` entries directly in a folder ("" is the root), by code point of the path, after the path given. */
  abstract childrenOf(
    workspaceId: string,
    folderDocPath: string,
    afterPath: string | null,
    limit: number,
  ): Promise<ListedEntry[]>;
  /** Up to `limit` entries anywhere below a folder, by docPath, after the docPath given. */
  abstract below(
    workspaceId: string,
    folderDocPath: string,
    afterDocPath: string | null,
    limit: number,
  ): Promise<ListedEntry[]>;
  /** Up to `limit` files, by docPath. */
  abstract page(
    workspaceId: string,
    filter: FileFilter,
    after: FileCursor | null,
    limit: number,
  ): Promise<FileRecord[]>;

  /** Up to `limit` versions of a file, newest first, older than the number given. */
  abstract versionsOf(
    workspaceId: string,
    fileId: string,
    beforeNumber: number | null,
    limit: number,
  ): Promise<FileVersion[]>;
  /** A version of the file. */
  abstract versionOf(workspaceId: string, fileId: string, versionId: string): Promise<FileVersion | null>;
  /** A version of the file with these bytes that was kept because its base was stale. */
  abstract conflictOf(workspaceId: string, fileId: string, sha256: string): Promise<FileVersion | null>;
  /** The version that an upload for a file patch became, and whose file it is. */
  abstract versionOfPatch(
    workspaceId: string,
    filePatchId: string,
    sha256: string,
  ): Promise<{ fileId: string; version: FileVersion } | null>;
}
