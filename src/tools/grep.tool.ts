import { Injectable } from '@nestjs/common';
import { grep, type JsonObject } from '@patchbay/protocol';
import { RE2JS } from 're2js';
import { DomainError, fieldError } from '../common/domain-error.js';
import { readCloudPath } from '../files/cloud-path.js';
import { textOf } from '../files/content-shape.js';
import { FilesService } from '../files/files.service.js';
import { filesIn, relativeTo } from './file-search.js';
import { compileGlob, compileSafe } from './glob-pattern.js';
import { LineSearch } from './line-search.js';
import type { ServerTool, ToolContext } from './server-tool.js';
import { linesOf, withoutBom } from './text-lines.js';
import { faultsFrom, type SchemaFault } from './tool-schemas.js';
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
/** Characters of a line that are shown, and how many of them are before the match. */
const MAX_SHOWN = 300;
const SHOWN_BEFORE = 100;

@Injectable()
export class GrepTool implements ServerTool {
  readonly contract = grep;
  readonly pathArguments = ['path'];

  constructor(private readonly files: FilesService) {}

  faultsOf(args: JsonObject): SchemaFault[] {
    const wanted = args as unknown as GrepArguments;
    return [
      ...faultsFrom(() => expressionOf(wanted)),
      ...(typeof wanted.glob === 'string' ? faultsFrom(() => compileGlob(wanted.glob!, 'glob')) : []),
    ];
  }

  /** Lines that fit a pattern. Patterns are RE2's, so that each line takes linear time; the whole has a time limit. */
  async execute(args: JsonObject, { workspaceId }: ToolContext): Promise<JsonObject> {
    const wanted = args as unknown as GrepArguments;
    const search = new Search(expressionOf(wanted), wanted.limit ?? DEFAULT_LIMIT);
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
    search: Search,
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
      throw new DomainError('NOT_FOUND', `File or folder not found: ${target.path}`);
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
      const content = whole.replace(/\r?\n$/, '');
      const at = await this.placeIn(content);
      if (this.isTruncated) return;
      if (at === null) continue;
      if (this.matches.length === this.limit) {
        this.isTruncated = true;
        return;
      }
      this.matches.push({ path, line, text: excerpt(content, at) });
    }
  }

  /** Where a line fits; null where it does not, or the time is used up. */
  private async placeIn(line: string): Promise<number | null> {
    const search = new LineSearch(this.expression, line);
    for (const piece of search.pieces()) {
      if (!(await this.hasTime())) return null;
      const at = search.placeIn(piece);
      if (at !== null) return at;
    }
    return null;
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

/** A line as it is shown: of a long one what is around the match. */
function excerpt(line: string, at: number): string {
  if (line.length <= MAX_SHOWN) return line;
  const from = Math.max(0, Math.min(at - SHOWN_BEFORE, line.length - MAX_SHOWN));
  const part = line.slice(from, from + MAX_SHOWN).toWellFormed();
  return `${from > 0 ? '…' : ''}${part}${from + MAX_SHOWN < line.length ? '…' : ''}`;
}
