import { Injectable } from '@nestjs/common';
import { edit, type JsonObject } from '@patchbay/protocol';
import { DomainError, fieldError } from '../common/domain-error.js';
import { readCloudPath } from '../files/cloud-path.js';
import { isStorableJson, textOf } from '../files/content-shape.js';
import { FileWrites } from '../files/file-writes.js';
import { FilesService } from '../files/files.service.js';
import type { ContentShape } from '../storage/ports/files.store.js';
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

/** Places that a refusal counts. */
const MAX_COUNTED = 1_000;

type Change = Omit<EditArguments, 'path' | 'sha256'>;

@Injectable()
export class EditTool implements ServerTool {
  readonly contract = edit;
  readonly pathArguments = ['path'];

  constructor(
    private readonly files: FilesService,
    private readonly writes: FileWrites,
  ) {}

  faultsOf(args: JsonObject): SchemaFault[] {
    const { oldString, newString } = args as unknown as EditArguments;
    const faults = Object.entries({ oldString, newString })
      .filter(([, text]) => !text.isWellFormed())
      .map(([name]) => ({ path: `/${name}`, code: 'content', message: 'holds a lone surrogate' }));
    if (oldString !== newString) return faults;
    return [...faults, { path: '/newString', code: 'content', message: 'is the same as oldString' }];
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
        replacements = countIn(text, change);
        this.writes.checkSize(head.sizeBytes + replacements * growthOf(change));
        const edited = replace(text, change);
        return { bytes: Buffer.from(edited, 'utf8'), shape: shapeOf(head.shape, edited) };
      },
    );
    const { id: fileId, head } = file;
    return {
      ...{ path: file.path, fileId, versionId: head.id, sha256: head.sha256, sizeBytes: head.sizeBytes },
      replacements,
    };
  }
}

/** How often the string is to be replaced; VALIDATION_ERROR where it is not there, or there is a choice. */
function countIn(text: string, { oldString, replaceAll }: Change): number {
  const all = replaceAll === true;
  let count = 0;
  // Occurrences that overlap are two places, of which only one can be replaced.
  const step = all ? oldString.length : 1;
  for (let at = text.indexOf(oldString); at !== -1; at = text.indexOf(oldString, at + step)) {
    count += 1;
    if (!all && count > MAX_COUNTED) break;
  }
  if (count === 0) throw fieldError('oldString', `is not in the file${hintFor(text, oldString)}`);
  if (all || count === 1) return count;
  const times = count > MAX_COUNTED ? `more than ${MAX_COUNTED}` : count;
  throw fieldError(
    'oldString',
    `is in the file ${times} times; take more of the text around it, or replaceAll`,
  );
}

/** Bytes that one replacement adds. */
function growthOf({ oldString, newString }: Change): number {
  return Buffer.byteLength(newString) - Buffer.byteLength(oldString);
}

function replace(text: string, { oldString, newString, replaceAll }: Change): string {
  if (replaceAll === true) return text.split(oldString).join(newString);
  const at = text.indexOf(oldString);
  return text.slice(0, at) + newString + text.slice(at + oldString.length);
}

/** The file keeps its shape; JSON that is none any more is a text. */
function shapeOf(shape: ContentShape, edited: string): ContentShape {
  return shape === 'json' && !isStorableJson(edited) ? 'text' : shape;
}

function hintFor(text: string, oldString: string): string {
  const asCrlf = oldString.replace(/\r?\n/g, '\r\n');
  if (asCrlf !== oldString && text.includes(asCrlf)) return '; its lines end in \\r\\n';
  return text.includes(oldString.normalize('NFC')) || text.includes(oldString.normalize('NFD'))
    ? '; it is there in another Unicode form'
    : '';
}
