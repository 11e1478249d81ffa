/** What a write is about to do, recorded before it is done, so that a killed write can be judged afterwards. */
export interface WriteIntent {
  /** Absolute real path of the root. */
  root: string;
  /** Path as results show it. */
  path: string;
  docPath: string;
  /** Path below the root, by component. */
  segments: string[];
  /** Name of the temp file, in the same directory. */
  tempName: string;
  /** sha256 (lowercase hex) of the new content, and its size in bytes. */
  sha256: string;
  sizeBytes: number;
  /** sha256 of the file that is replaced; null where there is none. */
  previousSha256: string | null;
  /** Of a file of a patch batch: what it takes to finish the batch, or to take it back. */
  patch?: PatchIntent;
  /** It is written into the open buffer of the file, and nothing on the disk: there are no temp files. */
  inBuffer?: boolean;
}

/** A file of a patch batch: all of them are written, or none. */
export interface PatchIntent {
  filePatchId: string;
  /** Second name of the original file, in the same directory, until the whole batch is written. */
  backupName: string;
  /** `done`: every file of the batch is in its place. `undo`: the batch is being taken back. */
  stage?: 'done' | 'undo';
  /** With `undo`, at the file that was the reason. */
  failure?: { errorCode: string; message: string };
}

/** Where a write leaves its intent. The journal gives one per call: `journal.writeLog(callId)`. */
export interface WriteLog {
  /** Durable when it returns; called before the temp file is made. A later call replaces an earlier one. */
  intend(intents: WriteIntent[]): Promise<void>;
  /**
   * The temp files are complete; the rename is next. Survives a kill of the process when it returns. A patch batch does
   * without: what became of it is judged by what the disk shows.
   */
  committing(): Promise<void>;
}

/** A call that was running when the client died, as the journal has it (a JournalEntry is one). */
export interface InterruptedWrite {
  readonly intents: readonly WriteIntent[];
  readonly committing: boolean;
}
