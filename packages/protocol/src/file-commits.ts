import type { ErrorCode } from './errors.js';

/** Body of `POST …/blobs/missing` and `POST …/blobs/read`. */
export interface BlobsRequest {
  /** In hex, at most MAX_BATCH_FILES. */
  sha256s: readonly string[];
}

/** Answer to `POST …/blobs/missing`: the hashes whose bytes the workspace does not hold. */
export interface MissingBlobs {
  missing: string[];
}

/** Answer to `POST …/blobs` and `PUT …/blobs/:sha256`: the stored blobs, in the order of the pack. */
export interface StoredBlobs {
  sha256s: string[];
}

/** One file of `POST …/files/commit`. */
export interface FileChange {
  /** Cloud path with its case, with or without a leading slash. */
  path: string;
  /** The file's previous Cloud path if `path` is another spelling of it: renames the file if it still has that path. */
  renamedFrom?: string | null;
  /** sha256 of uploaded bytes; null or absent with `deleted`. */
  sha256?: string | null;
  /** Deletes the file. */
  deleted?: true;
  /** Whether the file is executable; absent: unchanged. A change of this flag alone makes a version. */
  isExecutable?: boolean | null;
  /** sha256 of the head to be replaced; null: the file must not exist. */
  baseSha256: string | null;
}

/** Body of `POST …/files/commit`. */
export interface FileCommitRequest {
  /** At most MAX_BATCH_FILES. */
  files: readonly FileChange[];
}

/** The result of an accepted change; for a deletion `versionId` is the last head. */
export interface CommittedFile {
  path: string;
  fileId: string;
  versionId: string;
  /** The head already had these bytes, so there is no new version. */
  unchanged?: true;
  /** The spelling of the path was changed. */
  renamed?: true;
}

/**
 * Why a change was rejected: STALE if the head is not the base, NOT_FOUND if the bytes were not uploaded, CONFLICT if
 * something else has the path, VALIDATION_ERROR if the path is invalid.
 */
export interface RefusedFile {
  path: string;
  error: {
    code: ErrorCode;
    message: string;
    /** For STALE: the head; null if there is none. */
    currentSha256: string | null;
  };
}

/** Answer to `POST …/files/commit`, in the order of the request; files are independent of each other. */
export interface FileCommitAnswer {
  files: (CommittedFile | RefusedFile)[];
}
