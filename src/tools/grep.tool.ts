import { Injectable } from '@nestjs/common';
import type { JsonObject, ToolContract } from '@patchbay/protocol';
import { fieldError } from '../common/domain-error.js';
import { yieldIfBusy } from '../common/yield-if-busy.js';
import { readCloudPath } from '../files/cloud-path.js';
import { FilesService } from '../files/files.service.js';
import { NearestPath } from '../files/nearest-path.js';
import { UserJobs } from '../jobs/user-jobs.js';
import { WorkPool } from '../jobs/work-pool.js';
import { FileSearch, type SearchClock } from './file-search.js';
import { compileGlob } from './glob-pattern.js';
import { cloudPath, COUNT, objectSchema, optional, TEXT } from './schema-parts.js';
import {
  compileExpression,
  type Expression,
  isQuicklyCompiled,
  SEARCH_LINES,
  searchLoad,
  type SearchSlice,
  START,
} from './search-jobs.js';
import type { ServerTool, ToolContext } from './tool.js';
import type { FoundLines } from './text-search.js';
import { faultsFrom, type SchemaFault } from './tool-schemas.js';

const DEFAULT_LIMIT = 200;
/** Approximate bytes and files per search batch. */
const SEARCHED_AT_ONCE = 1024 * 1024;
const FILES_AT_ONCE = 1_000;

const contract: ToolContract = {
  name: 'grep',
  description:
    'Search the lines of Cloud text files for a regular expression, and get the matching lines with path and line number.',
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
        ...cloudPath('File, or folder to look in; default: the whole workspace.'),
        default: '/',
      }),
      glob: {
        type: ['string', 'null'],
        minLength: 1,
        maxLength: 500,
        description: 'Only files whose path below the folder matches this pattern, as in glob.',
      },
      literal: {
        type: ['boolean', 'null'],
        default: false,
        description: 'true treats pattern as plain text.',
      },
      ignoreCase: {
        type: ['boolean', 'null'],
        default: false,
        description: 'true ignores case.',
      },
      limit: {
        type: ['integer', 'null'],
        minimum: 1,
        maximum: 2000,
        default: DEFAULT_LIMIT,
        description: 'Maximum number of lines to return.',
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

Finds text in the workspace's Cloud files.

- Search for rare text: a name, a message, a constant. Narrow the search with \`path\` and \`glob\`.
- The pattern is RE2: no backreferences and no lookaround. With \`literal: true\` nothing needs escaping.
- A match is one line. Of a very long line you get the part around the match, and a match of more than 1,000 characters may be missed. Files that are not text are skipped.
- \`isTruncated: true\` means that the limit or the time was reached: narrow the search.
- Active Files are searched in their Cloud copy, which may be older than the editor's text.`,
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

/** `grep`: finds lines of Cloud files that match a pattern. */
@Injectable()
export class GrepTool implements ServerTool {
  readonly contract = contract;
  readonly order = 90;
  readonly pathArguments = ['path'];

  constructor(
    private readonly files: FilesService,
    private readonly nearest: NearestPath,
    private readonly search: FileSearch,
    private readonly pool: WorkPool,
    private readonly jobs: UserJobs,
  ) {}

  /** A pattern that compiles slowly is checked on the worker instead. */
  faultsOf(args: JsonObject): SchemaFault[] {
    const wanted = args as unknown as GrepArguments;
    const expression = expressionOf(wanted);
    return [
      ...(isQuicklyCompiled(expression) ? faultsFrom(() => compileExpression(expression)) : []),
      ...(typeof wanted.glob === 'string' ? faultsFrom(() => compileGlob(wanted.glob!, 'glob')) : []),
    ];
  }

  /** Uses RE2, so each line takes linear time; the whole search has a time limit. */
  execute(args: JsonObject, context: ToolContext): Promise<JsonObject> {
    const wanted = args as unknown as GrepArguments;
    return this.jobs.run(context.userId, () => this.find(wanted, context), 'searches');
  }

  private async find(wanted: GrepArguments, context: ToolContext): Promise<JsonObject> {
    const clock = this.search.clock(context);
    const found: FoundLines = { matches: [], filesSearched: 0, isTruncated: false };
    if (!isQuicklyCompiled(expressionOf(wanted))) await this.judge(expressionOf(wanted), context);
    for await (const files of this.texts(wanted, context, clock)) {
      await this.searchIn(files, wanted, found, context, clock);
      if (found.isTruncated) break;
    }
    return { ...found, isTruncated: found.isTruncated || clock.isUp };
  }

  /** Searches the files in time slices, so that others get their turn. */
  private async searchIn(
    files: readonly SearchedFile[],
    wanted: GrepArguments,
    found: FoundLines,
    { userId }: ToolContext,
    clock: SearchClock,
  ): Promise<void> {
    const expression = expressionOf(wanted);
    const limit = wanted.limit ?? DEFAULT_LIMIT;
    let slice: SearchSlice['rest'] = { file: 0, from: START };
    let rest = [...files];
    while (slice !== null) {
      const { from }: NonNullable<SearchSlice['rest']> = slice;
      rest = rest.slice(slice.file);
      const ms = clock.left();
      found.isTruncated = ms === 0;
      if (ms === 0) return;
      const input = { expression, files: rest, from, limit: limit - found.matches.length, ms };
      const bytes = rest.reduce((sum, file) => sum + file.bytes.length, 0);
      const more: SearchSlice = await this.pool.run(
        userId,
        SEARCH_LINES,
        input,
        searchLoad(expression, bytes),
      );
      found.matches.push(...more.matches);
      found.filesSearched += more.filesSearched;
      found.isTruncated = more.isTruncated && more.rest === null;
      slice = more.rest;
    }
  }

  /** A pattern that was not checked at acceptance must fail even if there is nothing to search. */
  private async judge(expression: Expression, { userId }: ToolContext): Promise<void> {
    const nothing = { expression, files: [], from: START, limit: 0, ms: 0 };
    await this.pool.run(userId, SEARCH_LINES, nothing, searchLoad(expression, 0));
  }

  /** The files to search with their bytes, in batches. */
  private async *texts(
    wanted: GrepArguments,
    context: ToolContext,
    clock: SearchClock,
  ): AsyncGenerator<SearchedFile[]> {
    let files: SearchedFile[] = [];
    let size = 0;
    for await (const docPath of this.candidates(wanted, context, clock)) {
      await yieldIfBusy();
      if (clock.left() === 0) return;
      const file = await this.files.at(context.workspaceId, { docPath });
      if (file?.kind !== 'file') continue;
      const bytes = await this.files.bytesOf(context.workspaceId, file.head);
      files.push({ path: file.path, bytes });
      size += bytes.length;
      if (size < SEARCHED_AT_ONCE && files.length < FILES_AT_ONCE) continue;
      yield files;
      [files, size] = [[], 0];
    }
    if (files.length > 0) yield files;
  }

  /** docPaths of the files to search, until the time is up. */
  private async *candidates(
    { path, glob }: GrepArguments,
    context: ToolContext,
    clock: SearchClock,
  ): AsyncGenerator<string> {
    const { workspaceId } = context;
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
    const query = { folder: entry ?? target, glob: glob ?? null, clock };
    for await (const page of this.search.filesIn(context, query)) {
      for (const { docPath } of page) yield docPath;
    }
  }
}

/** A file to search. */
interface SearchedFile {
  path: string;
  bytes: Buffer;
}

function expressionOf({ pattern, literal, ignoreCase }: GrepArguments): Expression {
  return { pattern, literal: literal === true, ignoreCase: ignoreCase === true };
}
