import type { ToolContract } from '../tool-contract.js';
import { cloudPath, COUNT, objectSchema, optional, SHA256, TEXT, TIME } from './schema-parts.js';

/* Tools that tell a model what the workspace holds, and on which text a patch can be made. */

const category = 'workspace';
const executionLocation = 'server';

/** Most bytes of content that `workspace_read_file` gives unless more is asked for. */
export const DEFAULT_READ_BYTES = 262_144;
const MAX_READ_BYTES = 8 * 1024 * 1024;

const cursor = { type: ['string', 'null'], description: 'nextCursor of the page before.' };

/** `workspace_read_file`: a Cloud file's text with what a patch needs to know of it. */
export const readFile: ToolContract = {
  name: 'workspace_read_file',
  description:
    'Read a text file of the workspace from its Cloud copy, with its sha256 and line count; numbered: true puts a number before every line. ' +
    'Long files come in parts that end at a line’s end: go on with startLine. ' +
    'A file that is open in the user’s editor is not read: the answer is ALREADY_IN_CONTEXT, with the sha256 of what the editor holds.',
  category,
  executionLocation,
  requestSchema: objectSchema(
    {
      docPath: cloudPath('docPath of the file, e.g. "myrepo/src/orders/price.ts".'),
      maxBytes: {
        type: ['integer', 'null'],
        minimum: 1,
        maximum: MAX_READ_BYTES,
        default: DEFAULT_READ_BYTES,
        description: 'Most bytes of content to return.',
      },
      numbered: {
        type: ['boolean', 'null'],
        default: false,
        description: 'true puts the line’s number and a tab before each line; they are not part of the file.',
      },
      startLine: {
        type: ['integer', 'null'],
        minimum: 1,
        default: 1,
        description: 'First line to return, counted from 1.',
      },
    },
    ['docPath'],
  ),
  responseSchema: objectSchema(
    {
      success: { type: 'boolean' },
      docPath: TEXT,
      sha256: SHA256,
      sizeBytes: COUNT,
      path: TEXT,
      content: TEXT,
      lineCount: COUNT,
      startLine: { type: 'integer', minimum: 1 },
      endLine: COUNT,
      isTruncated: { type: 'boolean' },
      errorCode: { enum: [null, 'ALREADY_IN_CONTEXT'] },
      message: TEXT,
    },
    ['success', 'docPath', 'sha256', 'sizeBytes', 'errorCode', 'message'],
  ),
  guidance: `# workspace_read_file

Reads the Cloud copy of a text file, for you to reason about and to plan a patch on.

## Use it to
- see a file before you change it with workspace_write_patch: \`sha256\` is the patch's \`originalSha256\`;
- read with \`numbered: true\` when you need line numbers. The number and the tab are not in the file: never put them into a patch.

## Do not use it
- on Active Files: their text is in your context already and outranks the Cloud copy. The answer is then ALREADY_IN_CONTEXT with the Active sha256, which is the one to patch on;
- on a file that you have read in this conversation, unless something has changed it since.

## Reading the result
\`isTruncated: true\` means that there are more lines after \`endLine\`: call again with \`startLine\` one above it. \`sha256\`, \`sizeBytes\` and \`lineCount\` are always the whole file's. A byte order mark counts in the sha256 and is not shown.`,
};

/** `workspace_list_files`: Cloud files by docPath prefix. */
export const listFiles: ToolContract = {
  name: 'workspace_list_files',
  description:
    'List the workspace’s Cloud files whose docPath begins with a prefix, with sha256, size and time of last change, page by page.',
  category,
  executionLocation,
  requestSchema: objectSchema(
    {
      prefix: {
        type: ['string', 'null'],
        maxLength: 1024,
        description: 'Beginning of the docPath; all files where it is left out.',
      },
      limit: {
        type: ['integer', 'null'],
        minimum: 1,
        maximum: 1000,
        default: 200,
        description: 'Most files of one page.',
      },
      cursor,
    },
    [],
  ),
  responseSchema: objectSchema({
    files: {
      type: 'array',
      items: objectSchema({ docPath: TEXT, path: TEXT, sha256: SHA256, sizeBytes: COUNT, updatedAt: TIME }),
    },
    nextCursor: { type: ['string', 'null'] },
  }),
  guidance: `# workspace_list_files

Shows which Cloud files there are, and in which version.

- The directory snapshot in your context is usually enough; list when it is truncated or old.
- Give the narrowest \`prefix\` you can, such as \`myrepo/src/orders/\`. For names anywhere use glob.
- Go on with \`cursor\` only as far as you need.`,
};

/** `workspace_list_active_files`: what is open in the session's editor. */
export const listActiveFiles: ToolContract = {
  name: 'workspace_list_active_files',
  description:
    'List the Active Files: those that are open in the user’s editor, perhaps with unsaved changes, with the sha256 of what the editor holds.',
  category,
  executionLocation,
  requestSchema: objectSchema({}),
  responseSchema: objectSchema({
    activeFiles: {
      type: 'array',
      items: objectSchema({
        docPath: TEXT,
        displayPath: TEXT,
        sha256: SHA256,
        sizeBytes: COUNT,
        isDirty: { type: 'boolean' },
      }),
    },
  }),
  guidance: `# workspace_list_active_files

Shows what the user has open. An Active File outranks its Cloud copy: plan patches on its sha256.

- The list is in your context at the start of a turn; ask again when the user may have opened, closed or edited files since.
- \`isDirty: true\` means that the editor holds changes which are not saved yet.`,
};

/** `code_hash_normalized`: the content hash of a text (TUL-004). */
export const codeHash: ToolContract = {
  name: 'code_hash_normalized',
  description:
    'Compute the content hash of a text or of a Cloud file: sha256 of its UTF-8 bytes without byte order mark and with every line ending as \\n. ' +
    'It is the hash that workspace_create_file returns.',
  category: 'code',
  executionLocation,
  requestSchema: objectSchema(
    {
      content: { type: ['string', 'null'], description: 'The text to hash. Give this or docPath.' },
      docPath: optional(cloudPath('The Cloud file to hash. Give this or content.')),
    },
    [],
  ),
  responseSchema: objectSchema({ hash: SHA256, sizeBytes: COUNT }),
  guidance: `# code_hash_normalized

Tells whether two texts are the same apart from line endings and byte order mark. You cannot compute a hash yourself: never make one up.

- A patch's \`originalSha256\` is another thing: the sha256 of the raw bytes, as workspace_read_file and the Active Files list have it. The two are equal for files with \\n endings and no byte order mark.`,
};
