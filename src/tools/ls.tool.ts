import { Injectable } from '@nestjs/common';
import type { JsonObject, ToolContract } from '@patchbay/protocol';
import { isoTime } from '../common/clock.js';
import { nameOf, readCloudPath } from '../files/cloud-path.js';
import { FilesService } from '../files/files.service.js';
import type { ListedEntry } from '../storage/ports/files.store.js';
import { cloudPath, objectSchema, optional, PATH_RULES, TEXT, TIME } from './schema-parts.js';
import type { ServerTool, ToolContext } from './server-tool.js';

const contract: ToolContract = {
  name: 'ls',
  description:
    'List a folder of the workspace’s Cloud files: what is directly in it, or with recursive: true everything below it. ' +
    'Entries come sorted by path, each with its name, path, type (Document or Folder) and time of last change.',
  category: 'files',
  executionLocation: 'server',
  requestSchema: objectSchema(
    {
      path: optional({ ...cloudPath('Folder to list; the root where it is left out.'), default: '/' }),
      recursive: {
        type: ['boolean', 'null'],
        default: false,
        description: 'true lists everything below the folder, at any depth.',
      },
    },
    [],
  ),
  responseSchema: objectSchema({
    path: TEXT,
    entries: {
      type: 'array',
      items: objectSchema({
        name: TEXT,
        path: TEXT,
        file_type: { enum: ['Document', 'Folder'] },
        updated_at: TIME,
      }),
    },
  }),
  guidance: `# ls

Shows what a Cloud folder holds.

- Look here before you guess a path. Begin at the top and go down; ask for \`recursive: true\` only on folders you know to be small.
- To find files by name use glob, to find text in them use grep: both answer with less.
- ${PATH_RULES}
- A path that is a file is an error; a folder that does not exist is NOT_FOUND.`,
};

/** `ls`: what is in a Cloud folder. */
@Injectable()
export class LsTool implements ServerTool {
  readonly contract = contract;
  readonly order = 10;
  readonly pathArguments = ['path'];

  constructor(private readonly files: FilesService) {}

  /** Lists a folder, sorted by code point of the path. */
  async execute(args: JsonObject, { workspaceId }: ToolContext): Promise<JsonObject> {
    const { path, recursive } = args as { path?: string | null; recursive?: boolean | null };
    const folder = await this.files.requireFolder(workspaceId, readCloudPath(path ?? '/'));
    if (recursive !== true) {
      return {
        path: folder.path,
        entries: (await this.files.childrenOf(workspaceId, folder)).map(entryView),
      };
    }
    const entries = await this.files.below(workspaceId, folder);
    return { path: folder.path, entries: entries.sort(byCodePoint).map(entryView) };
  }
}

function entryView({ kind, path, updatedAt }: ListedEntry): JsonObject {
  const file_type = kind === 'folder' ? 'Folder' : 'Document';
  return { name: nameOf(path), path, file_type, updated_at: isoTime(updatedAt) };
}

/** UTF-16 puts what is beyond the basic plane before U+E000; by code point it comes last. */
function byCodePoint({ path: a }: ListedEntry, { path: b }: ListedEntry): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at += 1) {
    const [left, right] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}

function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
