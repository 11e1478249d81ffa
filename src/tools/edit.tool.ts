import { Injectable } from '@nestjs/common';
import { edit, type JsonObject } from '@patchbay/protocol';
import { DomainError, fieldError } from '../common/domain-error.js';
import { readCloudPath } from '../files/cloud-path.js';
import { textOf } from '../files/content-shape.js';
import { FileWrites } from '../files/file-writes.js';
import { FilesService } from '../files/files.service.js';
import { type ServerTool, toolChange, type ToolContext } from './server-tool.js';
import type { SchemaFault } from './tool-schemas.js';

/** Arguments of `edit`. */
interface EditArguments {
  path: string;
  oldString: string;
  newString: string;
  sha256?: string | null;
  replaceAll?: boolean | null;
}

@Injectable()
export class EditTool implements ServerTool {
  readonly contract = edit;

  constructor(
    private readonly files: FilesService,
    private readonly writes: FileWrites,
  ) {}

  faultsOf(args: JsonObject): SchemaFault[] {
    const { oldString, newString } = args as unknown as EditArguments;
    const fault = (message: string): SchemaFault[] => [{ path: '/newString', code: 'content', message }];
    if (!newString.isWellFormed()) return fault('holds a lone surrogate');
    return oldString === newString ? fault('is the same as oldString') : [];
  }

  /** Replaces one exact string, or with `replaceAll` every one, in the newest version of a text file. */
  async execute(args: JsonObject, context: ToolContext): Promise<JsonObject> {
    const { path, sha256, ...change } = args as unknown as EditArguments;
    let replacements = 0;
    const file = await this.writes.rewrite(
      toolChange(edit.name, context),
      readCloudPath(path),
      async ({ head }) => {
        if (typeof sha256 === 'string' && sha256.toLowerCase() !== head.sha256) {
          throw new DomainError('STALE', `The file has moved on. Its sha256 is ${head.sha256}.`, {
            details: { currentSha256: head.sha256 },
          });
        }
        const text = textOf(await this.files.bytesOf(context.workspaceId, head));
        if (text === null) throw fieldError('path', 'is not a text file');
        const edited = replace(text, change);
        replacements = edited.replacements;
        const shape = head.shape === 'string' ? 'string' : 'text';
        return { bytes: Buffer.from(edited.text, 'utf8'), shape };
      },
    );
    const { id: fileId, head } = file;
    return {
      ...{ path: file.path, fileId, versionId: head.id, sha256: head.sha256, sizeBytes: head.sizeBytes },
      replacements,
    };
  }
}

function replace(
  text: string,
  { oldString, newString, replaceAll }: Omit<EditArguments, 'path' | 'sha256'>,
): { text: string; replacements: number } {
  const first = text.indexOf(oldString);
  if (first === -1) throw fieldError('oldString', `is not in the file${hintFor(text, oldString)}`);
  if (replaceAll === true) {
    const parts = text.split(oldString);
    return { text: parts.join(newString), replacements: parts.length - 1 };
  }
  // Occurrences that overlap are two places as well.
  if (text.indexOf(oldString, first + 1) !== -1) {
    throw fieldError(
      'oldString',
      'is in the file more than once; take more of the text around it, or replaceAll',
    );
  }
  return { text: text.slice(0, first) + newString + text.slice(first + oldString.length), replacements: 1 };
}

function hintFor(text: string, oldString: string): string {
  const asCrlf = oldString.replace(/\r?\n/g, '\r\n');
  if (asCrlf !== oldString && text.includes(asCrlf)) return '; its lines end in \\r\\n';
  return text.includes(oldString.normalize('NFC')) || text.includes(oldString.normalize('NFD'))
    ? '; it is there in another Unicode form'
    : '';
}
