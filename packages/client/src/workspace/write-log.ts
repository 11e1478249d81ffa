/** What a write is about to do, recorded before it is done, so that a killed write can be judged afterwards. */
export interface WriteIntent {
  /** Absolute real path of the root. */
  root: string;
  /** Path as results show it. */
  path: string;
  /** Path below the root, by component. */
  segments: string[];
  /** Name of the temp file, in the same directory. */
  tempName: string;
  /** sha256 (lowercase hex) of the new content, and its size in bytes. */
  sha256: string;
  sizeBytes: number;
  /** sha256 of the file that is replaced; null where there is none. */
  previousSha256: string | null;
}

/** Where a write leaves its intent. The journal gives one per call: `journal.writeLog(callId)`. */
export interface WriteLog {
  /** Durable when it returns; called before the temp file is made. A later call replaces an earlier one. */
  intend(intents: WriteIntent[]): Promise<void>;
  /** The temp files are complete; the rename is next. Survives a kill of the process when it returns. */
  committing(): Promise<void>;
}
