import { RE2JS } from 're2js';
import { textOf } from '../files/content-shape.js';
import { defineJob, weightedLoad } from '../jobs/job.js';
import type { Load } from '../jobs/work-pool.js';
import { compileGlob, compileSafe } from './glob-pattern.js';
import { withoutBom } from './text-lines.js';
import { TextSearch, type FoundLines, type TextPlace } from './text-search.js';

/** A regular expression as it is asked for. */
export interface Expression {
  pattern: string;
  literal: boolean;
  ignoreCase: boolean;
}

/** Files to look through for lines that fit. */
interface LineQuery {
  expression: Expression;
  files: { path: string; bytes: Uint8Array }[];
  /** Where in the first of them it begins. */
  from: TextPlace;
  /** Most lines to find, and most time to take, in ms. */
  limit: number;
  ms: number;
}

/** The beginning of a text. */
export const START: TextPlace = { line: 0, start: 0 };

/** What one job found, and where the next one goes on where the time of this was up. */
export interface SearchSlice extends FoundLines {
  rest: { file: number; from: TextPlace } | null;
}

/** Paths to hold against a glob, for so many ms at most. */
interface PathQuery {
  glob: string;
  paths: string[];
  ms: number;
}

/**
 * Longest regular expression that is compiled where it is asked for, and what makes a short one much: repetitions, and
 * classes of characters outside ASCII, each of which is folded by itself where case is ignored.
 */
const SHORT_PATTERN = 100;
const MUCH_IN_SHORT = /[^\x20-\x7e]|\{|\\[0-9pP]|\[\[:/;
/** Characters of a pattern that are a pass over the text, about. */
const CHARS_PER_PASS = 10;

/** The expression, compiled; VALIDATION_ERROR where it is none. */
export function compileExpression({ pattern, literal, ignoreCase }: Expression): RE2JS {
  const source = literal ? RE2JS.quote(pattern) : pattern;
  return compileSafe(source, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0, 'pattern');
}

/** Whether it takes no time to compile an expression, so that it can be judged before the call is taken. */
export function isQuicklyCompiled({ pattern, literal }: Expression): boolean {
  return literal || (pattern.length <= SHORT_PATTERN && !MUCH_IN_SHORT.test(pattern));
}

/** Lines of files that fit an expression; files that are no text are passed over. */
export const SEARCH_LINES = defineJob(
  'tools.grep',
  ({ expression, files, from, limit, ms }: LineQuery): SearchSlice => {
    const search = new TextSearch(compileExpression(expression), limit, performance.now() + ms);
    for (const [index, { path, bytes }] of files.entries()) {
      const text = textOf(bytes);
      const begin = index === 0 ? from : START;
      if (text !== null && !text.includes('\0')) search.look(path, withoutBom(text), begin);
      if (search.next !== null) return { ...search.result(), rest: { file: index, from: search.next } };
      if (search.isTruncated) break;
    }
    return { ...search.result(), rest: null };
  },
);

export function searchLoad(expression: Expression, bytes: number): Load {
  const passes = isQuicklyCompiled(expression)
    ? Math.ceil(expression.pattern.length / CHARS_PER_PASS)
    : Infinity;
  return weightedLoad(bytes, (bytes + 1) * passes);
}

/** Which of the paths fit a glob, by their index, and how many were looked at before the time was up: one or more. */
export const MATCH_PATHS = defineJob(
  'tools.glob',
  ({ glob, paths, ms }: PathQuery): { fitting: number[]; looked: number } => {
    const fits = compileGlob(glob, 'pattern');
    const end = performance.now() + ms;
    const fitting: number[] = [];
    for (const [index, path] of paths.entries()) {
      if (index > 0 && performance.now() >= end) return { fitting, looked: index };
      if (fits(path)) fitting.push(index);
    }
    return { fitting, looked: paths.length };
  },
);

export function matchLoad(glob: string, paths: readonly string[]): Load {
  const bytes = paths.reduce((sum, { length }) => sum + length, glob.length);
  return weightedLoad(bytes, bytes * Math.ceil(glob.length / CHARS_PER_PASS));
}
