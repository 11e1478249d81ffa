import { Injectable } from '@nestjs/common';
import { grep, type JsonObject } from '@patchbay/protocol';
import { RE2JS } from 're2js';
import { DomainError } from '../common/domain-error.js';
import { readCloudPath } from '../files/cloud-path.js';
import { textOf } from '../files/content-shape.js';
import { FilesService } from '../files/files.service.js';
import { filesIn, relativeTo } from './file-search.js';
import { compileGlob, compileSafe } from './glob-pattern.js';
import type { ServerTool, ToolContext } from './server-tool.js';
import { linesOf, withoutBom } from './text-lines.js';
import { TimeBudget } from './time-budget.js';

/** Arguments of `grep`. */
interface GrepArguments {
  pattern: string;
  path?: string | null;
  glob?: string | null;
  literal?: boolean | null;
  ignoreCase?: boolean | null;
  limit?: number | null;
}

const DEFAULT_LIMIT = 200;
const MAX_MS = 5_000;
/** Characters of a line that are searched, so that no single match takes long. */
const MAX_LINE = 2_000;
const MAX_SHOWN = 300;

@Injectable()
export class GrepTool implements ServerTool {
  readonly contract = grep;

  constructor(private readonly files: FilesService) {}

  /** Lines that fit a pattern. Patterns are RE2's, so that each line takes linear time; the whole has a time limit. */
  async execute(args: JsonObject, { workspaceId }: ToolContext): Promise<JsonObject> {
    const wanted = args as unknown as GrepArguments;
    const search = new Search(expressionOf(wanted), wanted.limit ?? DEFAULT_LIMIT);
    for await (const paths of this.candidates(workspaceId, wanted)) {
      for (const docPath of paths) {
        const file = await this.files.at(workspaceId, { docPath });
        if (file?.kind !== 'file') continue;
        const text = textOf(await this.files.bytesOf(workspaceId, file.head));
        if (text !== null && !text.includes('\0')) await search.look(file.path, withoutBom(text));
        if (search.isTruncated || !(await search.hasTime())) return search.result();
      }
    }
    return search.result();
  }

  /** docPaths of the files to search. */
  private async *candidates(
    workspaceId: string,
    { path, glob }: GrepArguments,
  ): AsyncGenerator<readonly string[]> {
    const fits = typeof glob === 'string' ? compileGlob(glob, 'glob') : null;
    const target = readCloudPath(path ?? '/');
    const entry = target.docPath === '' ? null : await this.files.at(workspaceId, target);
    if (entry?.kind === 'file') {
      yield [entry.docPath];
      return;
    }
    if (entry === null && target.docPath !== '') {
      throw new DomainError('NOT_FOUND', `File or folder not found: ${target.path}`);
    }
    const folder = entry ?? target;
    for await (const page of filesIn(this.files, workspaceId, folder, glob ?? null)) {
      yield page
        .filter((file) => fits === null || fits(relativeTo(folder, file)))
        .map(({ docPath }) => docPath);
    }
  }
}

/** What was found so far, and whether there is room and time for more. */
class Search {
  isTruncated = false;
  private readonly matches: JsonObject[] = [];
  private readonly budget = new TimeBudget(MAX_MS);
  private filesSearched = 0;

  constructor(
    private readonly expression: RE2JS,
    private readonly limit: number,
  ) {}

  /** Adds the lines of a text that fit. */
  async look(path: string, text: string): Promise<void> {
    this.filesSearched += 1;
    let line = 0;
    for (const whole of linesOf(text)) {
      line += 1;
      if (!(await this.hasTime())) return;
      const content = whole.replace(/\r?\n$/, '').slice(0, MAX_LINE);
      if (!this.expression.test(content)) continue;
      if (this.matches.length === this.limit) {
        this.isTruncated = true;
        return;
      }
      this.matches.push({ path, line, text: shown(content) });
    }
  }

  async hasTime(): Promise<boolean> {
    const left = await this.budget.left();
    if (!left) this.isTruncated = true;
    return left;
  }

  result(): JsonObject {
    const { matches, filesSearched, isTruncated } = this;
    return { matches, filesSearched, isTruncated };
  }
}

function expressionOf({ pattern, literal, ignoreCase }: GrepArguments): RE2JS {
  const source = literal === true ? RE2JS.quote(pattern) : pattern;
  return compileSafe(source, ignoreCase === true ? RE2JS.CASE_INSENSITIVE : 0, 'pattern');
}

function shown(line: string): string {
  return line.length > MAX_SHOWN ? `${line.slice(0, MAX_SHOWN).toWellFormed()}…` : line;
}
