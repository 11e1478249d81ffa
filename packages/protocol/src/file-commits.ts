import type { ErrorCode } from './errors.js';

/** Body of `POST …/blobs/missing` and `POST …/blobs/read`. */
export interface BlobsRequest {
  /** In hex, MAX_BATCH_FILES at most. */
  sha256s: readonly string[];
}

/** Answer to `POST …/blobs/missing`: those of the hashes whose bytes the workspace does not hold. */
export interface MissingBlobs {
  missing: string[];
}

/** Answer to `POST …/blobs` and `PUT …/blobs/:sha256`: what is held now, in the order of the pack. */
export interface StoredBlobs {
  sha256s: string[];
}

/** One file of `POST …/files/commit`. */
export interface FileChange {
  /** Cloud path in its real case, with or without a leading slash. */
  path: string;
  /** Cloud path that the file had, where `path` is another spelling of it: the file is renamed where it still has that one. */
  renamedFrom?: string | null;
  /** Of bytes that were sent before; null or absent with `deleted`. */
  sha256?: string | null;
  /** Deletes the file. */
  deleted?: true;
  /** Whether the file may be executed; absent: as it is. A change of this alone makes a version. */
  isExecutable?: boolean | null;
  /** sha256 of the head that this replaces; null: there must be no file. */
  baseSha256: string | null;
}

/** Body of `POST …/files/commit`. */
export interface FileCommitRequest {
  /** MAX_BATCH_FILES at most. */
  files: readonly FileChange[];
}

/** What became of a change that was made; of a deletion `versionId` is the version that was the head. */
export interface CommittedFile {
  path: string;
  fileId: string;
  versionId: string;
  /** The head had these bytes already, so there is no new version. */
  unchanged?: true;
  /** The file has taken another spelling of its path. */
  renamed?: true;
}

/**
 * Why a change was not made: STALE where the head is not the base, NOT_FOUND where the bytes were not sent, CONFLICT
 * where something is in the way, VALIDATION_ERROR where the path is none.
 */
export interface RefusedFile {
  path: string;
  error: {
    code: ErrorCode;
    message: string;
    /** For STALE: the head, null where there is none. */
    currentSha256: string | null;
  };
}

/** Answer to `POST …/files/commit`, in the order of the request; each file stands for itself. */
export interface FileCommitAnswer {
  files: (CommittedFile | RefusedFile)[];
}
