/** How a line ends: LF, CRLF, or not at all (only the last line of a file). A lone `\r` is content. */
export type Ending = '\n' | '\r\n' | '';

/** The codes that a batch, a file patch or a change can be refused with. */
export type PatchFaultCode =
  | 'SCHEMA'
  | 'INVALID_DOC_PATH'
  | 'DUPLICATE_DOC_PATH'
  | 'INVALID_SHA256'
  | 'UNKNOWN_OPERATION'
  | 'RANGE_INVALID'
  | 'RANGE_BEYOND_END'
  | 'ORDER'
  | 'OVERLAP'
  | 'LINE_COUNT_MISMATCH'
  | 'EMPTY_NEW_LINES'
  | 'NEWLINE_IN_LINE'
  | 'NEW_LINES_ON_DELETE'
  | 'NO_CHANGE'
  | 'NOT_TEXT'
  | 'TOO_LARGE'
  | 'STALE'
  | 'LINES_MISMATCH'
  | 'NOT_FOUND';

/** One line of the authoritative file: its 1-based number and its text without the ending. */
export interface NumberedLine {
  line: number;
  text: string;
}

/** What a fault says beyond its message, so that a model or a program can act on it. */
export interface PatchFaultDetails {
  /** Number of lines of the authoritative file (RANGE_BEYOND_END). */
  lineCount?: number;
  /** sha256 of the authoritative file, lowercase hex (STALE; callers that hash also add it elsewhere). */
  currentSha256?: string;
  /**
   * The lines that stand in the stated range (LINES_MISMATCH). Long ranges are cut around the difference, long lines end
   * with an ellipsis and how much more of them there is.
   */
  actualLines?: NumberedLine[];
  /** How many lines of the range `actualLines` leaves out. */
  omittedLines?: number;
  /** First line of the file, 1-based, that differs from what was expected (LINES_MISMATCH). */
  firstDifference?: number;
  /** Why the lines probably differ: whitespace, Unicode form, pasted line numbers; null if unknown. */
  hint?: string | null;
  /** 1-based line at which the expected block starts, if it occurs exactly once in the file; else null. */
  foundAt?: number | null;
  /** The other change of an OVERLAP, index from 0. */
  overlapsWith?: number;
}

/** One fault of a batch [PATCH-1]. Indexes count from 0; null where the fault is wider. */
export interface PatchFault extends PatchFaultDetails {
  fileIndex: number | null;
  fileKey: string | null;
  docPath: string | null;
  changeIndex: number | null;
  changeKey: string | null;
  code: PatchFaultCode;
  message: string;
}

/** Every fault that was found: the first 100, or as many of them as 256 KiB hold, and how many more there are. */
export interface PatchFaults {
  faults: PatchFault[];
  moreFaults: number;
}

interface ChangeCommon {
  /** Given by the server; absent in a request [PATCH-3]. */
  changeId?: string;
  changeKey: string | null;
  description: string | null;
}

/** New lines after original line `afterLine`; 0 is the top of the file. */
export interface InsertChange extends ChangeCommon {
  operation: 'insert';
  afterLine: number;
  newLines: string[];
  /** Exact ending of each new line; only in batches made by the system (a revert). */
  newEndings?: Ending[];
}

/** Original lines `startLine..endLine` (1-based, inclusive) become `newLines`. */
export interface ReplaceChange extends ChangeCommon {
  operation: 'replace';
  startLine: number;
  endLine: number;
  expectedOriginalLines: string[];
  newLines: string[];
  /** Exact ending of each new line; only in batches made by the system (a revert). */
  newEndings?: Ending[];
}

/** Original lines `startLine..endLine` (1-based, inclusive) go. */
export interface DeleteChange extends ChangeCommon {
  operation: 'delete';
  startLine: number;
  endLine: number;
  expectedOriginalLines: string[];
}

/** One change of a file: whole lines. */
export type PatchChange = InsertChange | ReplaceChange | DeleteChange;

/** The changes of one file, as parsed: sha256 in lowercase, absent keys and labels null. */
export interface FilePatch {
  /** Given by the server; absent in a request. */
  filePatchId?: string;
  fileKey: string | null;
  docPath: string;
  /** Of the raw bytes that the coordinates are on, byte order mark included. */
  originalSha256: string;
  fileLabel: string | null;
  /** All coordinates are on the original file, so leaving some out does not shift the others. */
  changes: PatchChange[];
}

/** A patch batch, as parsed. */
export interface PatchBatch {
  /** Given by the server; absent in a request. */
  batchId?: string;
  batchKey: string | null;
  batchLabel: string | null;
  files: FilePatch[];
}
