import { Injectable } from '@nestjs/common';
import type { JsonObject, ToolContract } from '@patchbay/protocol';
import { isoTime } from '../common/clock.js';
import { nameOf, readCloudPath } from '../files/cloud-path.js';
import { yieldIfBusy } from '../common/yield-if-busy.js';
import { FilesService } from '../files/files.service.js';
import { UserJobs } from '../jobs/user-jobs.js';
import type { ListedEntry } from '../storage/ports/files.store.js';
import { cloudPath, objectSchema, optional, PATH_RULES, TEXT, TIME } from './schema-parts.js';
import type { ServerTool, ToolContext } from './tool.js';

/** Entries that are rendered before others get their turn. */
const VIEWED_AT_ONCE = 500;

const contract: ToolContract = {
  name: 'ls',
  description:
    'List a folder of the workspace’s Cloud files: its direct content, or with recursive: true everything below it. ' +
    'Entries are sorted by path, each with its name, path, type (Document or Folder) and time of last change.',
  category: 'files',
  executionLocation: 'server',
  requestSchema: objectSchema(
    {
      path: optional({ ...cloudPath('Folder to list; default: the root.'), default: '/' }),
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

Lists the content of a Cloud folder.

- Look here before you guess a path. Begin at the top and go down; ask for \`recursive: true\` only on folders you know to be small.
- To find files by name use glob, to find text in them use grep: both return less.
- ${PATH_RULES}
- The path of a file is an error; a missing folder gives NOT_FOUND.`,
};

/** `ls`: the content of a Cloud folder. */
@Injectable()
export class LsTool implements ServerTool {
  readonly contract = contract;
  readonly order = 10;
  readonly pathArguments = ['path'];

  constructor(
    private readonly files: FilesService,
    private readonly jobs: UserJobs,
  ) {}

  /** Lists a folder, sorted by code point of the path. */
  async execute(args: JsonObject, { workspaceId, userId }: ToolContext): Promise<JsonObject> {
    const { path, recursive } = args as { path?: string | null; recursive?: boolean | null };
    const folder = await this.files.requireFolder(workspaceId, readCloudPath(path ?? '/'));
    const list = async (): Promise<JsonObject> => {
      const entries =
        recursive === true
          ? sorted(await this.files.below(workspaceId, folder))
          : await this.files.childrenOf(workspaceId, folder);
      return { path: folder.path, entries: await views(entries) };
    };
    return this.jobs.run(userId, list);
  }
}

async function views(entries: readonly ListedEntry[]): Promise<JsonObject[]> {
  const shown: JsonObject[] = [];
  for (const { kind, path, updatedAt } of entries) {
    if (shown.length % VIEWED_AT_ONCE === 0) await yieldIfBusy();
    const file_type = kind === 'folder' ? 'Folder' : 'Document';
    shown.push({ name: nameOf(path), path, file_type, updated_at: isoTime(updatedAt) });
  }
  return shown;
}

/** By code point of the path. */
function sorted(entries: readonly ListedEntry[]): ListedEntry[] {
  const withKeys = entries.map((entry): [string, ListedEntry] => [orderKey(entry.path), entry]);
  return withKeys.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([, entry]) => entry);
}

/** UTF-16 sorts supplementary characters before U+E000; by code point they come last. */
function orderKey(path: string): string {
  return path.replace(/[\ud800-\uffff]/g, (unit) => {
    const code = unit.charCodeAt(0);
    return String.fromCharCode(code < 0xe000 ? code + 0x2000 : code - 0x800);
  });
}
