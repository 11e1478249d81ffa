import { Injectable } from '@nestjs/common';
import type { JsonObject, ToolContract } from '@patchbay/protocol';
import { DomainError, fieldError } from '../common/domain-error.js';
import { readCloudPath } from '../files/cloud-path.js';
import { isStorableJson, textOf } from '../files/content-shape.js';
import { FileWrites } from '../files/file-writes.js';
import { FilesService } from '../files/files.service.js';
import type { ContentShape } from '../storage/ports/files.store.js';
import { cloudPath, COUNT, objectSchema, PATH_RULES, SHA256, TEXT, UUID } from './schema-parts.js';
import { type ServerTool, toolChange, type ToolContext } from './server-tool.js';
import type { SchemaFault } from './tool-schemas.js';

const contract: ToolContract = {
  name: 'edit',
  description:
    'Replace one exact string in a Cloud text file. oldString must be in the file exactly once, unless replaceAll is true. ' +
    'With sha256, the edit happens only if the file still is what you have read.',
  category: 'files',
  executionLocation: 'server',
  requestSchema: objectSchema(
    {
      path: cloudPath('Path of the file.'),
      oldString: {
        type: 'string',
        minLength: 1,
        description: 'The text to replace, exactly as it is in the file.',
      },
      newString: { type: 'string', description: 'What comes in its place; "" removes it.' },
      sha256: {
        type: ['string', 'null'],
        pattern: '^[0-9a-fA-F]{64}$',
        description: 'sha256 of the version that you have read; another one is STALE.',
      },
      replaceAll: {
        type: ['boolean', 'null'],
        default: false,
        description: 'true replaces every occurrence.',
      },
    },
    ['path', 'oldString', 'newString'],
  ),
  responseSchema: objectSchema({
    path: TEXT,
    fileId: UUID,
    versionId: UUID,
    sha256: SHA256,
    sizeBytes: COUNT,
    replacements: { type: 'integer', minimum: 1 },
  }),
  guidance: `# edit

Changes a part of a Cloud text file and leaves every other byte as it is.

- Read the file first, and pass the sha256 that you have read: then nothing can have changed in between unnoticed.
- \`oldString\` is matched exactly, spaces and line endings included. If it occurs more than once the call fails and says how often: take more of the lines around it, or mean all of them with \`replaceAll\`.
- For files on the user's machine use workspace_write_patch.
- ${PATH_RULES}`,
};

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

/** `edit`: one exact string of a Cloud file for another. */
@Injectable()
export class EditTool implements ServerTool {
  readonly contract = contract;
  readonly order = 40;
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
      toolChange('edit', context),
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
