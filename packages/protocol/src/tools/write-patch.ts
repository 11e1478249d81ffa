import type { ToolContract } from '../tool-contract.js';
import { MAX_FILES, patchResultSchema as responseSchema } from './patch-result.js';

const key = (what: string) => ({ type: ['string', 'null'], maxLength: 256, description: what });
const note = (what: string) => ({ type: ['string', 'null'], description: what });
const line = (minimum: number, what: string) => ({ type: 'integer', minimum, description: what });

const ignoredId = { type: ['string', 'null'], description: 'Leave out: ids are given by the server.' };
const changeCommon = {
  changeKey: key('Your short name for this change, unique in its file; echoed in the result.'),
  description: note('Why this change is made, in a few words.'),
  changeId: ignoredId,
};
const newLines = {
  type: 'array',
  minItems: 1,
  items: { type: 'string', pattern: '^[^\\r\\n]*$' },
  description:
    'The new lines, one item each, without line ending; "" is an empty line. Never an empty array.',
};
const range = {
  startLine: line(1, 'First line of the range, counted from 1 in the original file.'),
  endLine: line(1, 'Last line of the range, included; equal to startLine for one line.'),
  expectedOriginalLines: {
    type: 'array',
    minItems: 1,
    items: { type: 'string', pattern: '^[^\\n]*$' },
    description:
      'The lines startLine to endLine exactly as they are in the original file, each once, without line ending.',
  },
};

/** The schema of one operation. */
function changeSchema(operation: string, description: string, fields: Record<string, unknown>) {
  return {
    type: 'object',
    description,
    properties: { operation: { type: 'string', const: operation }, ...fields, ...changeCommon },
    required: ['operation', ...Object.keys(fields)],
    additionalProperties: false,
  };
}

const anyChange = {
  anyOf: [
    changeSchema('insert', 'Put new lines between existing ones.', {
      afterLine: line(0, 'Original line after which the new lines go; 0 is the top of the file.'),
      newLines,
    }),
    changeSchema('replace', 'Put new lines in the place of a range.', { ...range, newLines }),
    changeSchema('delete', 'Remove a range.', range),
  ],
};

const filePatch = {
  type: 'object',
  properties: {
    fileKey: key('Your short name for this file, unique in the batch; echoed in the result.'),
    docPath: {
      type: 'string',
      minLength: 1,
      maxLength: 1024,
      description:
        'docPath of the file as listed: lowercase, with forward slashes, e.g. "repo/src/price.ts".',
    },
    originalSha256: {
      type: 'string',
      pattern: '^[0-9A-Fa-f]{64}$',
      description:
        'The sha256 that came with the full file you planned these changes on; copied, never made up.',
    },
    fileLabel: note('What changes in this file, for the person who approves it.'),
    changes: {
      type: 'array',
      minItems: 1,
      items: anyChange,
      description: 'Ordered top to bottom, not overlapping; all line numbers are those of the original file.',
    },
    filePatchId: ignoredId,
  },
  required: ['docPath', 'originalSha256', 'changes'],
  additionalProperties: false,
};

const requestSchema = {
  type: 'object',
  properties: {
    batchLabel: note('What the whole batch does, for the person who approves it.'),
    batchKey: key('Your short name for this batch, e.g. "add-retry"; echoed in the result.'),
    files: {
      type: 'array',
      minItems: 1,
      maxItems: MAX_FILES,
      items: filePatch,
      description: 'One entry per file, each docPath once. All files are written, or none.',
    },
    batchId: ignoredId,
  },
  required: ['files'],
  additionalProperties: false,
};

const guidance = `# workspace_write_patch

Changes whole lines of one or more existing text files in the user's workspace, on the user's machine. A person sees the diff and may refuse the batch, single files or single changes. All files of a batch are written, or none.

## Use it to
- change, add or remove lines of files that exist, in one file or in many that belong together.

## Do not use it to
- create a file or replace all of it: use workspace_create_file;
- change binary files, or line endings, encodings and byte order marks, which are kept as they are.

## Which text to work from
1. Read the file in full with workspace_read_file(docPath), and use the sha256 it answers with: it gives the newest text, of the editor, else of the connected folder, else of the Cloud.
2. Where your context has the text of an Active File, that is the same; use the sha256 beside it.
3. Search results help to find files and understand them. Never take line numbers, lines or hashes from them: they may be cut or old.

So: Active file before folder before Cloud file, and search results never. After a patch of yours was applied, the file is a new one: use the newSha256 of the result and the lines as they are then, or read the file again.

## The hash
Copy originalSha256 from where the text came from, or compute it over all of its bytes. A hash of a part, of an edited copy or a guessed one is refused as STALE.

## What a change must hold
1. Whole lines only. To change one word, replace its line.
2. \`insert\`: afterLine, newLines. \`replace\`: startLine, endLine, expectedOriginalLines, newLines. \`delete\`: startLine, endLine, expectedOriginalLines, and no newLines.
3. Lines count from 1; afterLine 0 is the top, afterLine equal to the number of lines appends. The numbers are those of the original file in every change: earlier changes do not shift later ones.
4. expectedOriginalLines are the lines of the range, each once, character by character: same spaces and tabs, no line numbers in front, no line ending.
5. Order changes top to bottom (by startLine, or afterLine). Ranges must not overlap, and an insert must not fall inside one.
6. Items of newLines are single lines without \\n or \\r; the file's own line endings are used.
7. Name each docPath once, written as it was listed (lowercase).

Keep to the lines that the task needs: many small changes are easier to approve than one big one. Say in description why, and use keys where you want to speak of a change later.

## Ask or act
- If it is clear what should change, call the tool; the person still approves it.
- If the request leaves open which file or which behaviour is meant, ask one short question first.

## Reading the result
- INVALID_ARGUMENTS comes with \`details.faults\`: every fault with file index, change index and how to mend it. Mend all of them and send the whole batch again; nothing was written.
- STALE: the file has changed. Read it again, plan again on the new text.
- LINES_MISMATCH: the hash is right, the expected lines are not. \`actualLines\` are what the file holds, \`hint\` is the likely reason, \`foundAt\` the place where the block is.
- Where the user's client found it, the same stands in \`files[].changes[].details\`, with \`currentSha256\` where the file has changed.
- \`files[].status\`: applied, conflict, rejected (by the person: do not send it again unasked), failed, skipped (sound, but held back because another file failed).
- OUTCOME_UNKNOWN: the user's client lost track of the call while it ran. The files may have been patched, all or none of them: read them before you plan again.
- changeId names a change for good: get_patch_change tells about it later.`;

/** `workspace_write_patch`, validated by the server with `parsePatchBatch`, executed by the client. */
export const writePatch: ToolContract & {
  readonly category: 'workspace';
  readonly executionLocation: 'client';
} = {
  name: 'workspace_write_patch',
  description:
    'Change existing text files of the user’s workspace by whole lines: insert, replace, delete, in one or more ' +
    'files at once. Each file names the sha256 of the full text the changes were planned on, and each replaced or ' +
    'deleted range the lines it expects there; if either differs, nothing is written. ' +
    'Returns ids and the outcome per file and per change.',
  category: 'workspace',
  executionLocation: 'client',
  requestSchema,
  responseSchema,
  guidance,
};
