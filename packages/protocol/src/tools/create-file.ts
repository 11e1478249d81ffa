import type { ToolContract } from '../tool-contract.js';

/** Why a create failed [CREATE-4]. */
export const CREATE_FILE_ERROR_CODES = [
  'FileExists',
  'InvalidPath',
  'DirectoryCreateFailed',
  'WriteFailed',
  'TooLarge',
  'HashFailed',
  'UnhandledException',
  'DIRTY_BUFFER',
  'FORBIDDEN',
] as const;
/** One of CREATE_FILE_ERROR_CODES. */
export type CreateFileErrorCode = (typeof CREATE_FILE_ERROR_CODES)[number];

/** Arguments of `workspace_create_file`. */
export interface CreateFileArguments {
  /** Relative to the workspace, with forward slashes: 1 to 1,024 characters. */
  path: string;
  /** The complete text; its lines are written with LF. */
  content: string;
  /** Replaces an existing file; default false, which fails with FileExists. */
  overwrite?: boolean | null;
}

/** Result of `workspace_create_file` [CREATE-4]; on failure `hash` is "" and the flags are false. */
export interface CreateFileResult {
  success: boolean;
  message: string;
  path: string;
  /** The path for later reads and patches; absent if the path was invalid. */
  docPath?: string;
  /** Size of the written file; 0 on failure. */
  sizeBytes: number;
  /** sha256 of the written file, lowercase hex. */
  hash: string;
  created: boolean;
  overwritten: boolean;
  errorCode: CreateFileErrorCode | null;
}

const guidance = `# workspace_create_file

Writes one whole text file into the user's workspace, on the user's machine. A person sees the file and may refuse it.

## Use it to
- add a source file, and the test file that goes with it;
- add a configuration, schema or documentation file;
- replace an existing file completely, when you know all of its new text and it should change in one step.

## Do not use it to
- change part of a file that exists: use workspace_write_patch;
- append to a file;
- write anything that is not text;
- reach outside the workspace: such a call fails.

## What a call must hold
1. \`content\` is the complete file, first line to last. Nothing is merged with what is there.
2. \`path\` is relative to the workspace: the name of a connected folder and the path below it, with forward slashes, e.g. \`myrepo/src/orders/price.ts\`. Where one folder is connected its name may be left out. No leading slash, no drive, no \`..\`.
3. \`overwrite: true\` only where replacing is what you mean. If you do not know whether the file exists or may be replaced, ask the user first.
4. Write \`\\n\` line endings; others are turned into them. No byte order mark is written.

## Choosing the path
- Take folders that exist: the directory snapshot in your context and the files already mentioned outrank any layout you could invent.
- Follow the layout that is there: where this project keeps its sources, its tests, its views, the new file goes beside its kin.
- Put a test where its project's tests are, a new service next to the services it works with.
- Make a new folder only where no existing one fits.

## Ask or act
- If the snapshot, the related files or the user's words point to one place, call the tool; the person still approves it.
- If several places are plausible, ask one short question about the place before you call.

## Reading the result
\`success: false\` comes with \`errorCode\`: FileExists (choose another path, or overwrite on purpose), InvalidPath, DirectoryCreateFailed, WriteFailed, TooLarge, HashFailed, UnhandledException, DIRTY_BUFFER (the file is open with unsaved changes, and the user's editor cannot have them replaced: ask the user to save it), FORBIDDEN (git ignores the path, or it may hold secrets: whether a file is there is not told; ask the user to write it). \`docPath\` is the name by which you read and patch the file from here on; \`hash\` is the sha256 of the file as written: use it as \`originalSha256\` of a later patch.
A file whose path differs only by case or Unicode form is the same file: it is FileExists, or is overwritten in its own spelling.
\`FileExists\` with overwrite: true means that somebody has changed the file since the person approved its replacement. Read it again before you replace it.
\`OUTCOME_UNKNOWN\`: the user's client lost track of the call while it ran. The file may have been written: look at it before you send the call again.`;

/** `workspace_create_file`, executed by the client alone [CREATE-1]. */
export const createFile: ToolContract = {
  name: 'workspace_create_file',
  description:
    'Create a text file in the user’s workspace, or replace one as a whole with overwrite: true. ' +
    'Missing parent folders are made. Without overwrite an existing file is left alone and the call fails with FileExists. ' +
    'Returns the normalised path, the docPath to go on with, the size in bytes, the sha256 of the content, and whether a file was created or overwritten.',
  category: 'workspace',
  executionLocation: 'client',
  requestSchema: {
    type: 'object',
    properties: {
      path: {
        type: 'string',
        minLength: 1,
        maxLength: 1024,
        pattern: '\\S',
        description:
          'File path relative to the workspace, with forward slashes: the name of the folder and the path below it, e.g. "myrepo/src/orders/price.ts".',
      },
      content: { type: 'string', description: 'The complete text of the file, with \\n line endings.' },
      overwrite: {
        type: ['boolean', 'null'],
        default: false,
        description: 'true replaces an existing file as a whole; false (the default) fails with FileExists.',
      },
    },
    required: ['path', 'content'],
    additionalProperties: false,
  },
  responseSchema: {
    type: 'object',
    properties: {
      success: { type: 'boolean' },
      message: { type: 'string' },
      path: { type: 'string' },
      docPath: { type: 'string', minLength: 1, maxLength: 2048 },
      sizeBytes: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
      hash: { type: 'string', maxLength: 256 },
      created: { type: 'boolean' },
      overwritten: { type: 'boolean' },
      errorCode: { enum: [null, ...CREATE_FILE_ERROR_CODES] },
    },
    required: ['success', 'message', 'path', 'sizeBytes', 'hash', 'created', 'overwritten', 'errorCode'],
    additionalProperties: false,
    if: { properties: { success: { const: true } } },
    then: {
      properties: {
        errorCode: { const: null },
        path: { type: 'string', pattern: '^[^\\\\]+$' },
        hash: { type: 'string', minLength: 1 },
      },
      oneOf: [
        { properties: { created: { const: true }, overwritten: { const: false } } },
        { properties: { created: { const: false }, overwritten: { const: true } } },
      ],
    },
    else: {
      properties: {
        errorCode: { enum: [...CREATE_FILE_ERROR_CODES] },
        sizeBytes: { const: 0 },
        hash: { const: '' },
        created: { const: false },
        overwritten: { const: false },
      },
    },
  },
  guidance,
};
