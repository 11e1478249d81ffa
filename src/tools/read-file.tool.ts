import { Injectable } from '@nestjs/common';
import type { JsonObject, ToolContract } from '@patchbay/protocol';
import { fieldError } from '../common/domain-error.js';
import { readCloudPath } from '../files/cloud-path.js';
import { UserJobs } from '../jobs/user-jobs.js';
import { WorkPool } from '../jobs/work-pool.js';
import { DEFAULT_READ_BYTES, type ExcerptOptions } from './excerpt.js';
import { NewestTexts, type OutOfReach } from './newest-text.js';
import { cloudPath, COUNT, objectSchema, SHA256, TEXT } from './schema-parts.js';
import type { ServerTool, ToolContext } from './tool.js';
import { EXCERPT_TEXT } from './text-jobs.js';

const MAX_READ_BYTES = 8 * 1024 * 1024;

const contract: ToolContract = {
  name: 'workspace_read_file',
  description:
    'Read the newest text of a file: the text open in the user’s editor (Active Files), else the file in the connected folder, else the Cloud’s copy. ' +
    'The result includes its source, its sha256 for patches, and its line count; numbered: true puts a number before every line. ' +
    'Long files are returned in parts of whole lines: continue with startLine.',
  category: 'workspace',
  executionLocation: 'server',
  requestSchema: objectSchema(
    {
      docPath: cloudPath('Path or docPath of the file, e.g. "MyRepo/src/orders/price.ts".'),
      maxBytes: {
        type: ['integer', 'null'],
        minimum: 1,
        maximum: MAX_READ_BYTES,
        default: DEFAULT_READ_BYTES,
        description: 'Maximum bytes of content to return.',
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
      source: { enum: ['active', 'disk', 'cloud'] },
      isDirty: {
        type: 'boolean',
        description: 'The editor has unsaved changes; only with source active.',
      },
      content: TEXT,
      lineCount: COUNT,
      startLine: { type: 'integer', minimum: 1 },
      endLine: COUNT,
      isTruncated: { type: 'boolean' },
      errorCode: { enum: [null, 'ALREADY_IN_CONTEXT'] },
      message: TEXT,
      warnings: { type: 'array', items: TEXT, description: 'Read these before you patch this text.' },
    },
    ['success', 'docPath', 'sha256', 'sizeBytes', 'errorCode', 'message'],
  ),
  guidance: `# workspace_read_file

Reads the newest text of a file, as the base of your answer or patch.

## Use it to
- see a file before you change it with workspace_write_patch: \`sha256\` is the patch's \`originalSha256\`;
- read with \`numbered: true\` when you need line numbers. The number and the tab are not in the file: never put them into a patch.

## Do not use it
- on a file that you have read in this conversation, unless something has changed it since.

## Reading the result
\`source\` says where the text is from: \`active\` is open in the user's editor, \`disk\` is in the connected folder, \`cloud\` is the Cloud's copy if no connected client has a newer one. Read \`warnings\` before you base a patch on it: they say where the Cloud, the folder and the editor differ. ALREADY_IN_CONTEXT: the file is open in an editor that does not return its text; ask the user to save it, or take its text from the conversation.
\`isTruncated: true\` means that there are more lines after \`endLine\`: call again with \`startLine\` one above it. \`sha256\`, \`sizeBytes\` and \`lineCount\` are always the whole file's. A byte order mark counts in the sha256 and is not shown.`,
};

/** Arguments of `workspace_read_file`. */
interface ReadFileArguments extends ExcerptOptions {
  docPath: string;
}

/** `workspace_read_file`: the current text of a file, with what a patch needs [TOOL-1]. */
@Injectable()
export class ReadFileTool implements ServerTool {
  readonly contract = contract;
  readonly order = 100;
  readonly pathArguments = ['docPath'];

  constructor(
    private readonly newest: NewestTexts,
    private readonly pool: WorkPool,
    private readonly jobs: UserJobs,
  ) {}

  /** The newest text within reach; for an unreachable open file only its sha256. */
  async execute(args: JsonObject, context: ToolContext): Promise<JsonObject> {
    const { docPath: given, ...options } = args as unknown as ReadFileArguments;
    const target = readCloudPath(given, 'docPath');
    const { docPath } = target;
    const found = await this.newest.find(context, target, 'docPath');
    if (found.kind === 'out_of_reach') return withoutText(found);
    const { path, source, sha256, sizeBytes, isDirty, warnings } = found;
    const part = await this.jobs.runOn(sizeBytes, context.userId, async () => {
      const bytes = await found.bytes();
      return this.pool.run(context.userId, EXCERPT_TEXT, { bytes, options }, { bytes: bytes.length });
    });
    if (part === null) throw fieldError('docPath', 'is not a text file');
    return {
      ...{ success: true, docPath, path, source, sha256, sizeBytes, errorCode: null },
      ...(source === 'active' && { isDirty }),
      ...part,
      ...(warnings.length > 0 && { warnings }),
    };
  }
}

function withoutText({ active, reason }: OutOfReach): JsonObject {
  const { docPath, sha256, sizeBytes } = active;
  return {
    ...{ success: false, docPath, sha256, sizeBytes, errorCode: 'ALREADY_IN_CONTEXT' },
    message: `The file is open in an editor that does not return its text: ${reason}. The Cloud does not have it. This is the sha256 of the open text.`,
  };
}
