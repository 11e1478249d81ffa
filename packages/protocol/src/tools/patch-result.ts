import type { PatchFaultCode, PatchFaultDetails } from '../patch-batch.js';
import type { JsonSchema } from '../tool-contract.js';

/** What became of a file. */
export type PatchFileStatus = 'applied' | 'conflict' | 'rejected' | 'failed' | 'skipped';
/** What became of a change. */
export type PatchChangeStatus = 'applied' | 'rejected' | 'failed' | 'skipped';

/** Why a file or change was not applied: a fault of the patch, or DIRTY_BUFFER and other codes of the client. */
export type PatchErrorCode = PatchFaultCode | 'DIRTY_BUFFER' | (string & {});

/** What only who has the file can say of a change that did not fit, as the server's own check says it [PATCH-2]. */
export type PatchChangeDetails = Pick<
  PatchFaultDetails,
  'actualLines' | 'omittedLines' | 'firstDifference' | 'hint' | 'foundAt' | 'lineCount' | 'currentSha256'
>;

/** What became of one change [PATCH-4]. Ids are ours, keys the model's or null. */
export interface PatchChangeResult {
  changeId: string;
  changeKey: string | null;
  operation: 'insert' | 'replace' | 'delete';
  description: string | null;
  status: PatchChangeStatus;
  errorCode: PatchErrorCode | null;
  message: string | null;
  /** What the file holds where the change did not fit. */
  details?: PatchChangeDetails;
}

/** What became of one file; `skipped` is sound but held back because another failed. sha256 in lowercase hex. */
export interface PatchFileResult {
  filePatchId: string;
  fileKey: string | null;
  docPath: string;
  status: PatchFileStatus;
  originalSha256: string;
  /** sha256 of the file as written; null unless applied. */
  newSha256: string | null;
  /** The Cloud version that the upload became; null unless there is one. */
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

/** What a client has to say of a change; the server knows the rest [PATCH-14]. */
export type PatchChangeReport = Said<PatchChangeResult, 'changeId' | 'status'>;
/** Of a file: `newSha256` where it was applied, `errorCode` where it failed. */
export type PatchFileReport = Omit<Said<PatchFileResult, 'filePatchId' | 'status'>, 'changes'> & {
  changes: PatchChangeReport[];
};
/** Of the whole batch. */
export type WritePatchReport = Omit<Said<WritePatchResult, 'success' | 'batchId'>, 'files'> & {
  files: PatchFileReport[];
};

/** More than any server takes: what it takes is its own setting. */
export const MAX_FILES = 100_000;

const id = { type: 'string', minLength: 1, maxLength: 256 };
const textOrNull = { type: ['string', 'null'] };
const codeOrNull = { type: ['string', 'null'], minLength: 1, maxLength: 64 };
const sha256 = '^[0-9a-f]{64}$';

/** An object that has some of its properties and no other. */
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

/** The property is there, and a text. */
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
  // What was written has a hash; what went wrong says why.
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

/** Schema of a result: a client may leave out what the batch says already, and nulls. */
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
