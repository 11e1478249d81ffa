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
  /** Whether it may be executed; null where no client has said. */
  isExecutable: boolean | null;
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
  /** userId for whom it counts while it lives: who made it, or brought it back. */
  holder: string;
}

/** A folder as it stands. One that nobody made has no id: it is there for as long as something live lies below it. */
export interface Folder {
  kind: 'folder';
  id: string | null;
  workspaceId: string;
  /** Where nobody made it, as something below it spells it. */
  path: string;
  docPath: string;
  /** When it was made; where nobody did, when something below it was. */
  createdAt: number;
}

/** A folder that was made and not removed. */
export interface FolderRecord extends Folder {
  id: string;
  /** As a file's. */
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
 * The bytes of a version that is written; null where the workspace holds them already under their sha256. Where it does not,
 * and nothing else refuses the write, that rejects with CONFLICT.
 */
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
 * Cloud files and the folders that were made for them: each an aggregate of its own. A write takes one as it is to be,
 * with the events that record it; false, and nothing is recorded, where what the caller had read no longer holds. What
 * it demands of others is one thing only, that no live one has its docPath: neither that a folder is there for it, nor
 * that one is empty.
 *
 * So a folder exists when it was made or when something live lies below it, whatever came first. One that is removed
 * while a file is written into it stays while the file does, and can be made again. A file and another below it, written
 * at the same moment, may both be live: the file is what is at its docPath, and what is below it is listed as in a folder.
 *
 * A write is refused where the `actor` of its events is no member (`Membership`).
 *
 * The answer to a write may be lost on its way. The same write again, of the same record and events, answers true where
 * it was made, whatever has happened since to the file, and changes and records nothing more.
 *
 * What is immutable may be stored before the aggregate that refers to it, in writes of its own: first the bytes, which
 * are taken off the list of those that go (`BlobStore`), then the version. What is left of them where the aggregate then
 * is refused is invisible, and swept.
 */
export abstract class FileStore {
  /** Stores a new file, live or deleted, with its first version. A live one needs a free docPath. */
  abstract insert(file: FileRecord, bytes: VersionBytes, events: readonly AuditDraft[]): Promise<boolean>;
  /**
   * Adds `file.head`, a new version, as the head. Where the file was deleted it is live again, at `file.path`, which
   * must be free.
   */
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
   * Stores where the file now stands: at `file.path`, which must be free, or deleted. Without events a save that comes
   * again is known only while the file still stands there.
   */
  abstract save(file: FileRecord, expectedRevision: number, events: readonly AuditDraft[]): Promise<boolean>;

  /** Makes a folder, where no file and no folder that was made is live at its docPath. */
  abstract insertFolder(folder: FolderRecord, events: readonly AuditDraft[]): Promise<boolean>;
  /** Takes back that a folder was made; false where somebody else has. */
  abstract removeFolder(
    folder: FolderRecord,
    deletedAt: number,
    events: readonly AuditDraft[],
  ): Promise<boolean>;

  /** What is live at a docPath: a file or a folder that was made, else the folder that is implied by what is below it. */
  abstract at(workspaceId: string, docPath: string): Promise<Entry | null>;
  /** The file that was deleted last at a docPath. */
  abstract lastDeletedAt(workspaceId: string, docPath: string): Promise<FileRecord | null>;
  /** The file of this id, live or deleted. */
  abstract byId(workspaceId: string, fileId: string): Promise<FileRecord | null>;
  /**
   * Up to `limit` entries whose folder this is ("" is the root), implied folders among them, by code point of the path,
   * after the path given.
   */
  abstract childrenOf(
    workspaceId: string,
    folderDocPath: string,
    afterPath: string | null,
    limit: number,
  ): Promise<ListedEntry[]>;
  /** Up to `limit` entries anywhere below a folder, implied folders among them, by docPath, after the docPath given. */
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
