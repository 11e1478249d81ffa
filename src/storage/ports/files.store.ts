import type { AuditDraft } from './audit.store.js';

/** Where the bytes of a version came from. */
export type FileSource = 'tool' | 'upload' | 'patch' | 'restore';

/** The shape in which `read` returns a version: `{text}`, a plain string, or the JSON value of the bytes. */
export type ContentShape = 'text' | 'string' | 'json';

/** One version of a file; immutable. */
export interface FileVersion {
  id: string;
  /** From 1; every version has a number, even if it never became the head. */
  number: number;
  /** Lowercase hex of the bytes. */
  sha256: string;
  sizeBytes: number;
  shape: ContentShape;
  /** Whether the file is executable; null if no client has reported it. */
  isExecutable: boolean | null;
  /** userId of its author. */
  author: string;
  source: FileSource;
  batchId: string | null;
  filePatchId: string | null;
  callId: string | null;
  /** Kept although its base was stale: it never became the head. */
  conflict: boolean;
  createdAt: number;
}

/** A file with its head: one aggregate, guarded by `revision`. */
export interface FileRecord {
  kind: 'file';
  id: string;
  workspaceId: string;
  /** The Cloud path as first spelled, with its leading slash. */
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
  /** userId whose quota it counts for while it lives: who created or restored it. */
  holder: string;
}

/** A folder. An implied folder has no id: it exists while something live is below it. */
export interface Folder {
  kind: 'folder';
  id: string | null;
  workspaceId: string;
  /** For an implied folder, the spelling of something below it. */
  path: string;
  docPath: string;
  /** When it was created; for an implied folder, when something below it was. */
  createdAt: number;
}

/** A folder that was created and not removed. */
export interface FolderRecord extends Folder {
  id: string;
  /** Same as for a file. */
  holder: string;
}

export type Entry = FileRecord | Folder;

/** An entry as a listing shows it. */
export interface ListedEntry {
  kind: 'file' | 'folder';
  path: string;
  docPath: string;
  /** For a folder, its `createdAt`. */
  updatedAt: number;
}

/**
 * The bytes of a new version; null if the workspace already stores them under their sha256. If it does not, and
 * nothing else refuses the write, it rejects with CONFLICT.
 */
export type VersionBytes = Uint8Array | null;

/** Filter of a listing. `docPrefix` is the beginning of a docPath, "" for all. */
export interface FileFilter {
  docPrefix: string;
  /** Deleted files instead of live ones. */
  deleted: boolean;
}

/** The last file of the previous page. */
export type FileCursor = Pick<FileRecord, 'id' | 'docPath'>;

/**
 * Cloud files and created folders, each its own aggregate. A write stores the new state with its audit events, or
 * returns false and records nothing if what the caller had read is outdated. Its only condition on other entries is
 * that no live one has its docPath; parent folders need not exist, and removed ones need not be empty. A folder
 * exists if it was created, or if something live is below it. A folder that is removed while a file is written into
 * it therefore stays while that file does, and can be created again. A file and another below its path, written at
 * the same time, may both be live: the file is at its docPath, and the other is listed as in a folder. A write is
 * refused if the `actor` of its events is not a member (`Membership`). Writes are idempotent: repeating one, with the
 * same record and events, returns true if it succeeded before, and changes nothing. Bytes and versions may be stored
 * before the aggregate that refers to them; the bytes lose their mark first (`BlobStore`). If the aggregate is
 * refused, they stay invisible, and are swept.
 */
export abstract class FileStore {
  /** Stores a new file, live or deleted, with its first version. A live one needs a free docPath. */
  abstract insert(file: FileRecord, bytes: VersionBytes, events: readonly AuditDraft[]): Promise<boolean>;
  /** Adds `file.head`, a new version, as the head. A deleted file becomes live at `file.path`, which must be free. */
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
  /**
   * Stores the file's location: `file.path`, which must be free, or deleted. Without events a repeated save is
   * recognized only while the file is still there.
   */
  abstract save(file: FileRecord, expectedRevision: number, events: readonly AuditDraft[]): Promise<boolean>;

  /** Creates a folder, unless a file or created folder is live at its docPath. */
  abstract insertFolder(folder: FolderRecord, events: readonly AuditDraft[]): Promise<boolean>;
  /** Removes a created folder; false if another write already did. */
  abstract removeFolder(
    folder: FolderRecord,
    deletedAt: number,
    events: readonly AuditDraft[],
  ): Promise<boolean>;

  /** The live entry at a docPath: a file or created folder, else the implied folder. */
  abstract at(workspaceId: string, docPath: string): Promise<Entry | null>;
  /** The file deleted most recently at a docPath. */
  abstract lastDeletedAt(workspaceId: string, docPath: string): Promise<FileRecord | null>;
  /** The file with this id, live or deleted. */
  abstract byId(workspaceId: string, fileId: string): Promise<FileRecord | null>;
  /** Up to `limit` entries of a folder ("" is the root), including implied folders, by code point of the path. */
  abstract childrenOf(
    workspaceId: string,
    folderDocPath: string,
    afterPath: string | null,
    limit: number,
  ): Promise<ListedEntry[]>;
  /** Up to `limit` entries anywhere below a folder, including implied folders, by docPath, after the given docPath. */
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

  /** Up to `limit` versions of a file, newest first, older than the given number. */
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
  /** The version that was uploaded for a file patch, with its file. */
  abstract versionOfPatch(
    workspaceId: string,
    filePatchId: string,
    sha256: string,
  ): Promise<{ fileId: string; version: FileVersion } | null>;
}
