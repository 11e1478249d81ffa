/** How a line ends: LF, CRLF, or not at all (only the last line of a file). A lone `\r` is content. */
export type Ending = '\n' | '\r\n' | '';

/** The codes that a batch, a file patch or a change can be refused with. */
export const PATCH_FAULT_CODES = [
  /** A field is missing, unknown or of another type than the schema says. */
  'SCHEMA',
  /** `docPath` is too long, or is not a path that a document can have. */
  'INVALID_DOC_PATH',
  /** An earlier entry of the batch names the same file. */
  'DUPLICATE_DOC_PATH',
  /** `originalSha256` is a string, but not 64 hex digits. */
  'INVALID_SHA256',
  /** The operation of a change is none that there is. */
  'UNKNOWN_OPERATION',
  /** `startLine`, `endLine` or `afterLine` can't be a place in any file. */
  'RANGE_INVALID',
  /** The range is not within the lines of the authoritative file; `lineCount` says how many it has. */
  'RANGE_BEYOND_END',
  /** A change stands after one of lines further down: they go top to bottom. */
  'ORDER',
  /** Two changes touch the same lines; reported at the later one, `overlapsWith` is the other. */
  'OVERLAP',
  /** The expected lines are not as many as the range has. */
  'LINE_COUNT_MISMATCH',
  /** A change that needs new lines has none. */
  'EMPTY_NEW_LINES',
  /** The text of one line has a line break in it. */
  'NEWLINE_IN_LINE',
  /** A deletion has new lines. */
  'NEW_LINES_ON_DELETE',
  /** The changes would leave the file as it is. */
  'NO_CHANGE',
  /** The file is not text, or the change would give it a byte order mark. */
  'NOT_TEXT',
  /** More files, changes or bytes than a limit allows. */
  'TOO_LARGE',
  /** The file is not the one that `originalSha256` names; `currentSha256` is what it is now. */
  'STALE',
  /** The expected lines are not those of the file; `actualLines` are, `foundAt` is where else they stand, if once. */
  'LINES_MISMATCH',
  /** There is no such file. */
  'NOT_FOUND',
] as const;
/** One of PATCH_FAULT_CODES. */
export type PatchFaultCode = (typeof PATCH_FAULT_CODES)[number];

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
