import type { PatchFaultCode, PatchFaultDetails } from '../patch-batch.js';
import type { JsonSchema } from '../tool-contract.js';

/** Outcome of a file. */
export type PatchFileStatus = 'applied' | 'conflict' | 'rejected' | 'failed' | 'skipped';
/** Outcome of a change. */
export type PatchChangeStatus = 'applied' | 'rejected' | 'failed' | 'skipped';

/** Why a file or change was not applied: a fault of the patch, or DIRTY_BUFFER and other codes of the client. */
export type PatchErrorCode = PatchFaultCode | 'DIRTY_BUFFER' | (string & {});

/**
 * What only the holder of the file can report about a change that did not fit, in the form of the server's own check
 * [PATCH-2].
 */
export type PatchChangeDetails = Pick<
  PatchFaultDetails,
  'actualLines' | 'omittedLines' | 'firstDifference' | 'hint' | 'foundAt' | 'lineCount' | 'currentSha256'
>;

/** Outcome of one change [PATCH-4]. Ids are the server's, keys the model's or null. */
export interface PatchChangeResult {
  changeId: string;
  changeKey: string | null;
  operation: 'insert' | 'replace' | 'delete';
  description: string | null;
  status: PatchChangeStatus;
  errorCode: PatchErrorCode | null;
  message: string | null;
  /** What the file has where the change did not fit. */
  details?: PatchChangeDetails;
}

/** Outcome of one file; `skipped` is valid but was not written because another failed. sha256 in lowercase hex. */
export interface PatchFileResult {
  filePatchId: string;
  fileKey: string | null;
  docPath: string;
  status: PatchFileStatus;
  originalSha256: string;
  /** sha256 of the written file; null unless applied. */
  newSha256: string | null;
  /** The Cloud version of the upload; null if there is none. */
  versionId: string | null;
  errorCode: PatchErrorCode | null;
  message: string | null;
  changes: PatchChangeResult[];
}

/** Result of `workspace_write_patch` [PATCH-4]. */
export interface WritePatchResult {
  /** No file failed or conflicted, and at least one was applied. */
  success: boolean;
  batchId: string;
  batchKey: string | null;
  batchLabel: string | null;
  files: PatchFileResult[];
}

type Said<Result, Needed extends keyof Result> = Pick<Result, Needed> & {
  [Key in Exclude<keyof Result, Needed>]?: Result[Key] | null;
};

/** What a client must report about a change; the server knows the rest [PATCH-14]. */
export type PatchChangeReport = Said<PatchChangeResult, 'changeId' | 'status'>;
/** The report of a file: `newSha256` if it was applied, `errorCode` if it failed. */
export type PatchFileReport = Omit<Said<PatchFileResult, 'filePatchId' | 'status'>, 'changes'> & {
  changes: PatchChangeReport[];
};
/** The report of the whole batch. */
export type WritePatchReport = Omit<Said<WritePatchResult, 'success' | 'batchId'>, 'files'> & {
  files: PatchFileReport[];
};

/** More than any server accepts: the actual limit is a setting. */
export const MAX_FILES = 100_000;

const id = { type: 'string', minLength: 1, maxLength: 256 };
const textOrNull = { type: ['string', 'null'] };
const codeOrNull = { type: ['string', 'null'], minLength: 1, maxLength: 64 };
const sha256 = '^[0-9a-f]{64}$';

/** An object with some of its properties and no others. */
const closed = (properties: Record<string, unknown>, ...required: string[]) => ({
  ...{ type: 'object', properties, required, additionalProperties: false },
});

const numberedLine = closed(
  { line: { type: 'integer', minimum: 1 }, text: { type: 'string', maxLength: 2100 } },
  ...['line', 'text'],
);

const changeDetails = {
  ...closed({
    actualLines: { type: 'array', maxItems: 50, items: numberedLine },
    omittedLines: { type: 'integer', minimum: 0 },
    firstDifference: { type: ['integer', 'null'], minimum: 1 },
    hint: { type: ['string', 'null'], maxLength: 1000 },
    foundAt: { type: ['integer', 'null'], minimum: 1 },
    lineCount: { type: ['integer', 'null'], minimum: 0 },
    currentSha256: { type: ['string', 'null'], pattern: sha256 },
  }),
  type: ['object', 'null'],
};

const changeResult = closed(
  {
    changeId: id,
    changeKey: textOrNull,
    operation: { type: ['string', 'null'], enum: ['insert', 'replace', 'delete', null] },
    description: textOrNull,
    status: { type: 'string', enum: ['applied', 'rejected', 'failed', 'skipped'] },
    errorCode: codeOrNull,
    message: textOrNull,
    details: changeDetails,
  },
  ...['changeId', 'status'],
);

const withStatus = (...status: PatchFileStatus[]) => ({
  type: 'object',
  properties: { status: { type: 'string', enum: status } },
});

/** A required string property. */
const text = (name: string) => ({ properties: { [name]: { type: 'string' } }, required: [name] });

const fileResult = {
  ...closed(
    {
      filePatchId: id,
      fileKey: textOrNull,
      docPath: { type: ['string', 'null'], minLength: 1, maxLength: 1024 },
      status: { type: 'string', enum: ['applied', 'conflict', 'rejected', 'failed', 'skipped'] },
      originalSha256: { type: ['string', 'null'], pattern: sha256 },
      newSha256: { type: ['string', 'null'], pattern: sha256 },
      versionId: { type: ['string', 'null'], maxLength: 256 },
      errorCode: codeOrNull,
      message: textOrNull,
      changes: { type: 'array', minItems: 1, items: changeResult },
    },
    ...['filePatchId', 'status', 'changes'],
  ),
  // A written file has a hash; a failed one has a reason.
  allOf: [
    { if: withStatus('applied'), then: text('newSha256') },
    { if: withStatus('conflict', 'failed'), then: text('errorCode') },
  ],
};

const succeeded = {
  properties: {
    files: {
      type: 'array',
      contains: withStatus('applied'),
      not: { type: 'array', contains: withStatus('conflict', 'failed') },
    },
  },
};

/** Schema of a result: a client may omit nulls and what the batch already says. */
export const patchResultSchema: JsonSchema = {
  ...closed(
    {
      success: { type: 'boolean' },
      batchId: id,
      batchKey: textOrNull,
      batchLabel: textOrNull,
      files: { type: 'array', minItems: 1, maxItems: MAX_FILES, items: fileResult },
    },
    ...['success', 'batchId', 'files'],
  ),
  if: { properties: { success: { const: true } } },
  then: succeeded,
  else: { not: succeeded },
};
