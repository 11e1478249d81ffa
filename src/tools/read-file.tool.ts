import { Injectable } from '@nestjs/common';
import { DEFAULT_READ_BYTES, type JsonObject, readFile } from '@patchbay/protocol';
import { fieldError } from '../common/domain-error.js';
import { readCloudPath } from '../files/cloud-path.js';
import { textOf } from '../files/content-shape.js';
import { FilesService } from '../files/files.service.js';
import { SessionsService } from '../sessions/sessions.service.js';
import type { ServerTool, ToolContext } from './server-tool.js';
import { linesOf, withoutBom } from './text-lines.js';

/** Arguments of `workspace_read_file`. */
interface ReadFileArguments {
  docPath: string;
  maxBytes?: number | null;
  numbered?: boolean | null;
  startLine?: number | null;
}

@Injectable()
export class ReadFileTool implements ServerTool {
  readonly contract = readFile;
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
