import { Injectable } from '@nestjs/common';
import type { JsonObject, ToolContract } from '@patchbay/protocol';
import { isoTime } from '../common/clock.js';
import { readCloudPath } from '../files/cloud-path.js';
import { FilesService } from '../files/files.service.js';
import { compileGlob } from './glob-pattern.js';
import { filesIn, relativeTo } from './file-search.js';
import { cloudPath, objectSchema, optional, TEXT, TIME } from './schema-parts.js';
import type { ServerTool, ToolContext } from './server-tool.js';
import { faultsFrom, type SchemaFault } from './tool-schemas.js';
import { TimeBudget } from './time-budget.js';

const DEFAULT_LIMIT = 500;
const MAX_MS = 5_000;

const contract: ToolContract = {
  name: 'glob',
  description:
    'Find Cloud files by a pattern of their path, such as "**/*.spec.ts" or "src/{api,web}/**". ' +
    'The pattern is held against the path below the folder; upper and lower case are the same.',
  category: 'files',
  executionLocation: 'server',
  requestSchema: objectSchema(
    {
      pattern: {
        type: 'string',
        minLength: 1,
        maxLength: 500,
        description: '* and ? within a name, ** across folders, [abc] and [!a-z], {one,other}.',
      },
      path: optional({
        ...cloudPath('Folder to look in; the whole workspace where it is left out.'),
        default: '/',
      }),
      limit: {
        type: ['integer', 'null'],
        minimum: 1,
        maximum: 5000,
        default: DEFAULT_LIMIT,
        description: 'Most files to return.',
      },
    },
    ['pattern'],
  ),
  responseSchema: objectSchema({
    files: { type: 'array', items: objectSchema({ path: TEXT, docPath: TEXT, updatedAt: TIME }) },
    isTruncated: { type: 'boolean' },
  }),
  guidance: `# glob

Finds Cloud files by name when you know a part of it.

- \`*.ts\` is only directly in the folder, \`**/*.ts\` at any depth.
- Narrow it with \`path\`: fewer files are looked at. \`isTruncated: true\` means that there may be more.
- To find text inside files use grep.`,
};

/** `glob`: Cloud files by name. */
@Injectable()
export class GlobTool implements ServerTool {
  readonly contract = contract;
  readonly order = 80;
  readonly pathArguments = ['path'];

  constructor(private readonly files: FilesService) {}

  faultsOf({ pattern }: JsonObject): SchemaFault[] {
    return faultsFrom(() => compileGlob(pattern as string, 'pattern'));
  }

  /** Files whose path below the folder fits the pattern, by docPath. */
  async execute(args: JsonObject, { workspaceId }: ToolContext): Promise<JsonObject> {
    const { pattern, path, limit } = args as { pattern: string; path?: string | null; limit?: number | null };
    const fits = compileGlob(pattern, 'pattern');
    const folder = await this.files.requireFolder(workspaceId, readCloudPath(path ?? '/'));
    const budget = new TimeBudget(MAX_MS);
    const found: JsonObject[] = [];
    for await (const page of filesIn(this.files, workspaceId, folder, pattern)) {
      for (const entry of page) {
        if (!(await budget.left())) return { files: found, isTruncated: true };
        if (!fits(relativeTo(folder, entry))) continue;
        if (found.length === (limit ?? DEFAULT_LIMIT)) return { files: found, isTruncated: true };
        found.push({ path: entry.path, docPath: entry.docPath, updatedAt: isoTime(entry.updatedAt) });
      }
    }
    return { files: found, isTruncated: false };
  }
}
