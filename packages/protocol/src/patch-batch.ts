/** How a line ends: LF, CRLF, or not at all (only the last line of a file). A lone `\r` is content. */
export type Ending = '\n' | '\r\n' | '';

/** Fault codes of a batch, a file patch or a change. */
export const PATCH_FAULT_CODES = [
  /** A field is missing, unknown or of another type than in the schema. */
  'SCHEMA',
  /** `docPath` is too long or invalid. */
  'INVALID_DOC_PATH',
  /** An earlier entry of the batch names the same file. */
  'DUPLICATE_DOC_PATH',
  /** `originalSha256` is a string other than 64 hex digits. */
  'INVALID_SHA256',
  /** The operation of a change is unknown. */
  'UNKNOWN_OPERATION',
  /** `startLine`, `endLine` or `afterLine` cannot be a place in any file. */
  'RANGE_INVALID',
  /** The range is beyond the end of the authoritative file; `lineCount` is its number of lines. */
  'RANGE_BEYOND_END',
  /** A change follows one of lines further down: changes go top to bottom. */
  'ORDER',
  /** Two changes touch the same lines; reported at the later one, `overlapsWith` is the other. */
  'OVERLAP',
  /** The number of expected lines differs from the length of the range. */
  'LINE_COUNT_MISMATCH',
  /** A change that needs new lines has none. */
  'EMPTY_NEW_LINES',
  /** The text of one line contains a line break. */
  'NEWLINE_IN_LINE',
  /** A deletion has new lines. */
  'NEW_LINES_ON_DELETE',
  /** The changes would leave the file unchanged. */
  'NO_CHANGE',
  /** The file is not text, or the change would give it a byte order mark. */
  'NOT_TEXT',
  /** A limit of files, changes or bytes is exceeded. */
  'TOO_LARGE',
  /** The file does not have the hash `originalSha256`; `currentSha256` is its current hash. */
  'STALE',
  /** The expected lines are not those of the file, which are in `actualLines`; `foundAt` is where they occur, if once. */
  'LINES_MISMATCH',
  /** The file does not exist. */
  'NOT_FOUND',
] as const;
/** One of PATCH_FAULT_CODES. */
export type PatchFaultCode = (typeof PATCH_FAULT_CODES)[number];

/** One line of the authoritative file: its 1-based number and its text without the ending. */
export interface NumberedLine {
  line: number;
  text: string;
}

/** Details of a fault, so that a model or a program can act on it. */
export interface PatchFaultDetails {
  /** Number of lines of the authoritative file (RANGE_BEYOND_END). */
  lineCount?: number;
  /** sha256 of the authoritative file, lowercase hex (STALE; also set elsewhere by callers that hash). */
  currentSha256?: string;
  /**
   * The lines of the given range (LINES_MISMATCH). Long ranges are cut around the difference; long lines end with an
   * ellipsis and the number of hidden characters.
   */
  actualLines?: NumberedLine[];
  /** Number of lines of the range that `actualLines` omits. */
  omittedLines?: number;
  /** First differing line of the file, 1-based (LINES_MISMATCH). */
  firstDifference?: number;
  /** Probable reason for the difference: whitespace, Unicode form, pasted line numbers; null if unknown. */
  hint?: string | null;
  /** 1-based line of the expected block, if it occurs exactly once in the file; else null. */
  foundAt?: number | null;
  /** The other change of an OVERLAP, index from 0. */
  overlapsWith?: number;
}

/** One fault of a batch [PATCH-1]. Indexes count from 0; null if the fault concerns more. */
export interface PatchFault extends PatchFaultDetails {
  fileIndex: number | null;
  fileKey: string | null;
  docPath: string | null;
  changeIndex: number | null;
  changeKey: string | null;
  code: PatchFaultCode;
  message: string;
}

/** The first faults, at most 100 and 256 KiB, and the number of further ones. */
export interface PatchFaults {
  faults: PatchFault[];
  moreFaults: number;
}

interface ChangeCommon {
  /** Assigned by the server; absent in a request [PATCH-3]. */
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

/** Original lines `startLine..endLine` (1-based, inclusive) are deleted. */
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
  /** Assigned by the server; absent in a request. */
  filePatchId?: string;
  fileKey: string | null;
  docPath: string;
  /** Hash of the raw bytes that the coordinates refer to, including a byte order mark. */
  originalSha256: string;
  fileLabel: string | null;
  /** All coordinates refer to the original file, so omitting some does not shift the others. */
  changes: PatchChange[];
}

/** A patch batch, as parsed. */
export interface PatchBatch {
  /** Assigned by the server; absent in a request. */
  batchId?: string;
  batchKey: string | null;
  batchLabel: string | null;
  files: FilePatch[];
}
