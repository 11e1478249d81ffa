/** What a write is about to do. It is recorded first, so that the outcome of a killed write can be determined. */
export interface WriteIntent {
  /** Absolute real path of the root. */
  root: string;
  /** Path as shown in results. */
  path: string;
  docPath: string;
  /** Components of the path below the root. */
  segments: string[];
  /** Name of the temp file, in the same directory. */
  tempName: string;
  /** sha256 (lowercase hex) of the new content, and its size in bytes. */
  sha256: string;
  sizeBytes: number;
  /** sha256 of the file that is replaced; null if there is none. */
  previousSha256: string | null;
  /** For a file of a patch batch: what is needed to finish the batch or to roll it back. */
  patch?: PatchIntent;
  /** Written into the open buffer of the file, not to disk: there are no temp files. */
  inBuffer?: boolean;
}

/** A file of a patch batch; all of them are written, or none. */
export interface PatchIntent {
  filePatchId: string;
  /** Second name of the original file, in the same directory, until the whole batch is written. */
  backupName: string;
  /** `done`: every file of the batch is in place. `undo`: the batch is being rolled back. */
  stage?: 'done' | 'undo';
  /** With `undo`, on the file that caused it. */
  failure?: { errorCode: string; message: string };
}

/** Where a write records its intents. The journal has one per call: `journal.writeLog(callId)`. */
export interface WriteLog {
  /** Durable when it resolves; called before the temp file is created. A later call replaces an earlier one. */
  intend(intents: WriteIntent[]): Promise<void>;
  /**
   * The temp files are complete and the rename comes next. Survives a kill of the process when it resolves. Patch
   * batches do not call it: their outcome is determined from the disk.
   */
  committing(): Promise<void>;
}

/** A call that was running when the client died (a JournalEntry is one). */
export interface InterruptedWrite {
  readonly intents: readonly WriteIntent[];
  readonly committing: boolean;
}
