import { Injectable } from '@nestjs/common';
import type { JsonObject, ToolContract } from '@patchbay/protocol';
import { isoTime } from '../common/clock.js';
import { readCloudPath } from '../files/cloud-path.js';
import { FilesService, type ListedFolder } from '../files/files.service.js';
import { UserJobs } from '../jobs/user-jobs.js';
import { compileGlob } from './glob-pattern.js';
import { FileSearch } from './file-search.js';
import { cloudPath, objectSchema, optional, TEXT, TIME } from './schema-parts.js';
import type { ServerTool, ToolContext } from './tool.js';
import { faultsFrom, type SchemaFault } from './tool-schemas.js';

const DEFAULT_LIMIT = 500;

const contract: ToolContract = {
  name: 'glob',
  description:
    'Find Cloud files by a pattern of their path, such as "**/*.spec.ts" or "src/{api,web}/**". ' +
    'The pattern is matched against the path below the folder, ignoring case.',
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
        ...cloudPath('Folder to look in; default: the whole workspace.'),
        default: '/',
      }),
      limit: {
        type: ['integer', 'null'],
        minimum: 1,
        maximum: 5000,
        default: DEFAULT_LIMIT,
        description: 'Maximum number of files to return.',
      },
    },
    ['pattern'],
  ),
  responseSchema: objectSchema({
    files: { type: 'array', items: objectSchema({ path: TEXT, docPath: TEXT, updatedAt: TIME }) },
    isTruncated: { type: 'boolean' },
  }),
  guidance: `# glob

Finds Cloud files when you know part of the name.

- \`*.ts\` matches only directly in the folder, \`**/*.ts\` at any depth.
- Narrow the search with \`path\`. \`isTruncated: true\` means that there may be more files.
- To find text inside files use grep.`,
};

/** `glob`: finds Cloud files by name. */
@Injectable()
export class GlobTool implements ServerTool {
  readonly contract = contract;
  readonly order = 80;
  readonly pathArguments = ['path'];

  constructor(
    private readonly files: FilesService,
    private readonly search: FileSearch,
    private readonly jobs: UserJobs,
  ) {}

  faultsOf({ pattern }: JsonObject): SchemaFault[] {
    return faultsFrom(() => compileGlob(pattern as string, 'pattern'));
  }

  /** Files whose path below the folder matches the pattern, by docPath. */
  async execute(args: JsonObject, context: ToolContext): Promise<JsonObject> {
    const { pattern, path, limit } = args as { pattern: string; path?: string | null; limit?: number | null };
    const folder = await this.files.requireFolder(context.workspaceId, readCloudPath(path ?? '/'));
    const find = () => this.find(context, folder, pattern, limit ?? DEFAULT_LIMIT);
    return this.jobs.run(context.userId, find, 'searches');
  }

  private async find(
    context: ToolContext,
    folder: ListedFolder,
    glob: string,
    limit: number,
  ): Promise<JsonObject> {
    const clock = this.search.clock(context);
    const files: JsonObject[] = [];
    for await (const page of this.search.filesIn(context, { folder, glob, clock })) {
      for (const { path, docPath, updatedAt } of page) {
        if (files.length === limit) return { files, isTruncated: true };
        files.push({ path, docPath, updatedAt: isoTime(updatedAt) });
      }
    }
    return { files, isTruncated: clock.isUp };
  }
}
