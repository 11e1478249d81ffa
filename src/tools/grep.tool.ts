import { Injectable } from '@nestjs/common';
import type { JsonObject, ToolContract } from '@patchbay/protocol';
import { RE2JS } from 're2js';
import { fieldError } from '../common/domain-error.js';
import { readCloudPath } from '../files/cloud-path.js';
import { textOf } from '../files/content-shape.js';
import { FilesService } from '../files/files.service.js';
import { NearestPath } from '../files/nearest-path.js';
import { filesIn, relativeTo } from './file-search.js';
import { compileGlob, compileSafe } from './glob-pattern.js';
import { cloudPath, COUNT, objectSchema, optional, TEXT } from './schema-parts.js';
import type { ServerTool, ToolContext } from './server-tool.js';
import { withoutBom } from './text-lines.js';
import { TextSearch } from './text-search.js';
import { faultsFrom, type SchemaFault } from './tool-schemas.js';

const DEFAULT_LIMIT = 200;

const contract: ToolContract = {
  name: 'grep',
  description:
    'Search the lines of Cloud text files for a regular expression, and get the lines that match with path and line number.',
  category: 'files',
  executionLocation: 'server',
  requestSchema: objectSchema(
    {
      pattern: {
        type: 'string',
        minLength: 1,
        maxLength: 1000,
        description:
          'Regular expression in RE2 syntax: no backreferences, no lookaround. Matched line by line.',
      },
      path: optional({
        ...cloudPath('File, or folder to look in; the whole workspace where it is left out.'),
        default: '/',
      }),
      glob: {
        type: ['string', 'null'],
        minLength: 1,
        maxLength: 500,
        description: 'Only files whose path below the folder fits this pattern, as in glob.',
      },
      literal: {
        type: ['boolean', 'null'],
        default: false,
        description: 'true takes pattern as plain text.',
      },
      ignoreCase: {
        type: ['boolean', 'null'],
        default: false,
        description: 'true takes upper and lower case as the same.',
      },
      limit: {
        type: ['integer', 'null'],
        minimum: 1,
        maximum: 2000,
        default: DEFAULT_LIMIT,
        description: 'Most lines to return.',
      },
    },
    ['pattern'],
  ),
  responseSchema: objectSchema({
    matches: {
      type: 'array',
      items: objectSchema({ path: TEXT, line: { type: 'integer', minimum: 1 }, text: TEXT }),
    },
    filesSearched: COUNT,
    isTruncated: { type: 'boolean' },
  }),
  guidance: `# grep

Finds where something is said in the workspace's Cloud files.

- Search for what is rare: a name, a message, a constant. Narrow it with \`path\` and \`glob\`.
- The pattern is RE2: no backreferences and no lookaround. With \`literal: true\` nothing has to be escaped.
- A match is one line; of a very long one you get what is around the match, and a match of more than 1,000 characters may be missed in it. Files that are not text are passed over.
- \`isTruncated: true\` means that the limit or the time was used up: ask for less.
- Active Files are searched in their Cloud copy, which may be older than what the editor holds.`,
};

/** Arguments of `grep`. */
interface GrepArguments {
  pattern: string;
  path?: string | null;
  glob?: string | null;
  literal?: boolean | null;
  ignoreCase?: boolean | null;
  limit?: number | null;
}

/** `grep`: lines of Cloud files that fit a pattern. */
@Injectable()
export class GrepTool implements ServerTool {
  readonly contract = contract;
  readonly order = 90;
  readonly pathArguments = ['path'];

  constructor(
    private readonly files: FilesService,
    private readonly nearest: NearestPath,
  ) {}

  faultsOf(args: JsonObject): SchemaFault[] {
    const wanted = args as unknown as GrepArguments;
    return [
      ...faultsFrom(() => expressionOf(wanted)),
      ...(typeof wanted.glob === 'string' ? faultsFrom(() => compileGlob(wanted.glob!, 'glob')) : []),
    ];
  }

  /** Patterns are RE2's, so that each line takes linear time; the whole has a time limit. */
  async execute(args: JsonObject, { workspaceId }: ToolContext): Promise<JsonObject> {
    const wanted = args as unknown as GrepArguments;
    const search = new TextSearch(expressionOf(wanted), wanted.limit ?? DEFAULT_LIMIT);
    for await (const docPath of this.candidates(workspaceId, wanted, search)) {
      const file = await this.files.at(workspaceId, { docPath });
      if (file?.kind !== 'file') continue;
      const text = textOf(await this.files.bytesOf(workspaceId, file.head));
      if (text !== null && !text.includes('\0')) await search.look(file.path, withoutBom(text));
      if (search.isTruncated) break;
    }
    return search.result();
  }

  /** docPaths of the files to search, for as long as there is time. */
  private async *candidates(
    workspaceId: string,
    { path, glob }: GrepArguments,
    search: TextSearch,
  ): AsyncGenerator<string> {
    const fits = typeof glob === 'string' ? compileGlob(glob, 'glob') : null;
    const target = readCloudPath(path ?? '/');
    const entry = target.docPath === '' ? null : await this.files.at(workspaceId, target);
    if (entry?.kind === 'file') {
      if (target.namesFolder) throw fieldError('path', 'is a file; leave out the last slash');
      yield entry.docPath;
      return;
    }
    if (entry === null && target.docPath !== '') {
      throw await this.nearest.notFound(workspaceId, 'File or folder', target);
    }
    const folder = entry ?? target;
    for await (const page of filesIn(this.files, workspaceId, folder, glob ?? null)) {
      for (const file of page) {
        if (!(await search.hasTime())) return;
        if (fits === null || fits(relativeTo(folder, file))) yield file.docPath;
      }
    }
  }
}

function expressionOf({ pattern, literal, ignoreCase }: GrepArguments): RE2JS {
  const source = literal === true ? RE2JS.quote(pattern) : pattern;
  return compileSafe(source, ignoreCase === true ? RE2JS.CASE_INSENSITIVE : 0, 'pattern');
}
