/** Default limit of a file for servers and clients, in bytes. */
export const DEFAULT_MAX_FILE_BYTES = 8 * 1024 * 1024;

/** Query of `GET …/files`. */
export interface FilesQuery {
  /** Prefix of the docPath or Cloud path; default all files. */
  prefix?: string;
  /** Deleted files instead of live ones. */
  deleted?: boolean;
  /** Files per page, at most 1,000. */
  limit?: number;
  /** `nextCursor` of the previous page. */
  cursor?: string;
}

/** A row of `GET …/files`: a Cloud file with its head. sha256 in lowercase hex, times in ISO 8601 UTC. */
export interface CloudFile {
  fileId: string;
  /** The Cloud path in its first spelling. */
  path: string;
  docPath: string;
  sha256: string;
  sizeBytes: number;
  headVersionId: string;
  /** Whether the file is executable; absent if no client has said. */
  isExecutable?: boolean;
  updatedAt: string;
  /** Null for a live file. */
  deletedAt: string | null;
}

/** Answer to `GET …/files`, by docPath; `nextCursor` is null at the end. */
export interface CloudFilePage {
  files: CloudFile[];
  nextCursor: string | null;
}

/** A row of `GET …/files/:fileId/versions`. sha256 in lowercase hex, times in ISO 8601 UTC. */
export interface CloudFileVersion {
  versionId: string;
  /** 1 for the first; conflicting uploads count too. */
  number: number;
  sha256: string;
  sizeBytes: number;
  /** As in a CloudFile. */
  isExecutable?: boolean;
  /** userId of the author. */
  author: string;
  source: 'tool' | 'upload' | 'patch' | 'restore';
  batchId: string | null;
  filePatchId: string | null;
  callId: string | null;
  createdAt: string;
}

/** Answer to `GET …/files/:fileId/versions`; `nextCursor` is null at the end. */
export interface CloudFileVersionPage {
  /** Newest first. */
  versions: CloudFileVersion[];
  nextCursor: string | null;
}

/** Answer to `PUT …/contents/*`: the new head. `path` is the Cloud path, sha256 in lowercase hex. */
export interface StoredFile {
  fileId: string;
  versionId: string;
  path: string;
  docPath: string;
  sha256: string;
  sizeBytes: number;
}

/** Answer to `POST …/files/:fileId/restore`. */
export interface RestoredFile {
  fileId: string;
  versionId: string;
  path: string;
}
