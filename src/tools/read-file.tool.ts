import { Injectable } from '@nestjs/common';
import type { JsonObject, ToolContract } from '@patchbay/protocol';
import { fieldError } from '../common/domain-error.js';
import { readCloudPath } from '../files/cloud-path.js';
import { textOf } from '../files/content-shape.js';
import { FilesService } from '../files/files.service.js';
import { SessionsService } from '../sessions/sessions.service.js';
import { cloudPath, COUNT, objectSchema, SHA256, TEXT } from './schema-parts.js';
import type { ServerTool, ToolContext } from './server-tool.js';
import { linesOf, withoutBom } from './text-lines.js';

/** Most bytes of content that it gives unless more is asked for. */
const DEFAULT_READ_BYTES = 262_144;
const MAX_READ_BYTES = 8 * 1024 * 1024;

const contract: ToolContract = {
  name: 'workspace_read_file',
  description:
    'Read a text file of the workspace from its Cloud copy, with its sha256 and line count; numbered: true puts a number before every line. ' +
    'Long files come in parts that end at a line’s end: go on with startLine. ' +
    'A file that is open in the user’s editor is not read: the answer is ALREADY_IN_CONTEXT, with the sha256 of what the editor holds.',
  category: 'workspace',
  executionLocation: 'server',
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

/** Arguments of `workspace_read_file`. */
interface ReadFileArguments {
  docPath: string;
  maxBytes?: number | null;
  numbered?: boolean | null;
  startLine?: number | null;
}

/** `workspace_read_file`: a Cloud file's text with what a patch needs to know of it. */
@Injectable()
export class ReadFileTool implements ServerTool {
  readonly contract = contract;
  readonly order = 100;
  readonly pathArguments = ['docPath'];

  constructor(
    private readonly files: FilesService,
    private readonly sessions: SessionsService,
  ) {}

  /** A Cloud file's text; for one that is open in the session's editor, only the sha256 of what is there. */
  async execute(args: JsonObject, { workspaceId, sessionId }: ToolContext): Promise<JsonObject> {
    const { docPath: given, ...options } = args as unknown as ReadFileArguments;
    const target = readCloudPath(given, 'docPath');
    const { docPath } = target;
    const active = await this.sessions.activeFiles(workspaceId, sessionId);
    const open = active.find((file) => file.docPath === docPath);
    if (open) {
      return {
        ...{ success: false, docPath, sha256: open.sha256, sizeBytes: open.sizeBytes },
        errorCode: 'ALREADY_IN_CONTEXT',
        message: 'The file is open in the editor: its text is in your context, and this is its sha256.',
      };
    }
    const { path, head } = await this.files.requireFile(workspaceId, target, 'docPath');
    const text = textOf(await this.files.bytesOf(workspaceId, head));
    if (text === null || text.includes('\0')) throw fieldError('docPath', 'is not a text file');
    const { sha256, sizeBytes } = head;
    return {
      ...{ success: true, docPath, path, sha256, sizeBytes, errorCode: null },
      ...excerpt(withoutBom(text), options),
    };
  }
}

/** The lines from `startLine` on that fit, whole ones only. */
function excerpt(text: string, options: Omit<ReadFileArguments, 'docPath'>): JsonObject {
  const startLine = options.startLine ?? 1;
  const maxBytes = options.maxBytes ?? DEFAULT_READ_BYTES;
  const parts: string[] = [];
  let [lineCount, endLine, bytes, blocked] = [0, startLine - 1, 0, 0];
  for (const line of linesOf(text)) {
    lineCount += 1;
    if (lineCount < startLine || blocked > 0) continue;
    const shown = options.numbered === true ? `${lineCount}\t${line}` : line;
    bytes += Buffer.byteLength(shown);
    if (bytes > maxBytes) blocked = Buffer.byteLength(shown);
    else {
      parts.push(shown);
      endLine = lineCount;
    }
  }
  if (startLine > Math.max(1, lineCount))
    throw fieldError('startLine', `is beyond the file’s ${lineCount} lines`);
  const isTruncated = endLine < lineCount;
  const message = !isTruncated
    ? ''
    : parts.length === 0
      ? `Line ${startLine} alone has ${blocked} bytes: ask for more than that with maxBytes.`
      : `There are ${lineCount - endLine} more lines; go on with startLine ${endLine + 1}.`;
  return { content: parts.join(''), lineCount, startLine, endLine, isTruncated, message };
}
