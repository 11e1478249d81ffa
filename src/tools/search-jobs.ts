import { RE2JS } from 're2js';
import { textOf } from '../files/content-shape.js';
import { defineJob, weighed } from '../jobs/job.js';
import type { Load } from '../jobs/work-pool.js';
import { compileGlob, compileSafe } from './glob-pattern.js';
import { withoutBom } from './text-lines.js';
import { TextSearch, type FoundLines, type TextPlace } from './text-search.js';

/** A requested regular expression. */
export interface Expression {
  pattern: string;
  literal: boolean;
  ignoreCase: boolean;
}

/** Files to search for matching lines. */
interface LineQuery {
  expression: Expression;
  files: { path: string; bytes: Uint8Array }[];
  /** Start position in the first text. */
  from: TextPlace;
  /** Lines to find at most, and time limit in ms. */
  limit: number;
  ms: number;
}

/** The beginning of a text. */
export const START: TextPlace = { line: 0, start: 0 };

/** Result of one job, and where the next one continues if the time was up. */
export interface SearchSlice extends FoundLines {
  rest: { file: number; from: TextPlace } | null;
}

/** Paths to match against a glob, with a time limit in ms. */
interface PathQuery {
  glob: string;
  paths: string[];
  ms: number;
}

/**
 * Longest pattern that is compiled inline, and what makes a short one expensive: repetitions, and non-ASCII classes,
 * whose characters are folded one by one.
 */
const SHORT_PATTERN = 100;
const EXPENSIVE = /[^\x20-\x7e]|\{|\\[0-9pP]|\[\[:/;
/** About this many pattern characters cost one pass over the text. */
const CHARS_PER_PASS = 10;

/** Compiles the expression; VALIDATION_ERROR if it is invalid. */
export function compileExpression({ pattern, literal, ignoreCase }: Expression): RE2JS {
  const source = literal ? RE2JS.quote(pattern) : pattern;
  return compileSafe(source, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0, 'pattern');
}

/** Whether the expression compiles fast enough to be checked at acceptance. */
export function isQuicklyCompiled({ pattern, literal }: Expression): boolean {
  return literal || (pattern.length <= SHORT_PATTERN && !EXPENSIVE.test(pattern));
}

/** Matching lines of files; files that are not text are skipped. */
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
  return weighed(bytes, (bytes + 1) * passes);
}

/** Indexes of the paths that match a glob, and how many were checked before the time was up, at least one. */
export const MATCH_PATHS = defineJob(
  'tools.glob',
  ({ glob, paths, ms }: PathQuery): { fitting: number[]; checked: number } => {
    const fits = compileGlob(glob, 'pattern');
    const end = performance.now() + ms;
    const fitting: number[] = [];
    for (const [index, path] of paths.entries()) {
      if (index > 0 && performance.now() >= end) return { fitting, checked: index };
      if (fits(path)) fitting.push(index);
    }
    return { fitting, checked: paths.length };
  },
);

export function matchLoad(glob: string, paths: readonly string[]): Load {
  const bytes = paths.reduce((sum, { length }) => sum + length, glob.length);
  return weighed(bytes, bytes * Math.ceil(glob.length / CHARS_PER_PASS));
}
