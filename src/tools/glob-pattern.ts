import { foldCase } from '@patchbay/protocol';
import { RE2JS } from 're2js';
import { fieldError } from '../common/domain-error.js';

const MAX_BRACES = 5;
/** Instructions of a compiled pattern: with the text length they bound the time of a match. */
const MAX_PROGRAM = 1_000;

/** Whether a docPath relative to the folder matches. */
export type PathTest = (docPath: string) => boolean;

/** Compiles a regular expression with bounded match time; VALIDATION_ERROR on `field` if it is invalid. */
export function compileSafe(source: string, flags: number, field: string): RE2JS {
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(source, flags);
  } catch (error) {
    throw fieldError(field, `is not a pattern: ${error instanceof Error ? error.message : 'unreadable'}`);
  }
  if (compiled.programSize() > MAX_PROGRAM) throw fieldError(field, 'is too complex');
  return compiled;
}

/**
 * Compiles a glob for docPaths relative to a folder. It uses RE2, which is linear; JavaScript's backtracking can be
 * exponential.
 */
export function compileGlob(glob: string, field: string): PathTest {
  const compiled = compileSafe(sourceOf(foldCase(glob), field), RE2JS.DOTALL, field);
  return (docPath) => compiled.testExact(docPath);
}

/** The literal folders that begin every matching path, as a docPath prefix; "" if there are none. */
export function literalFolder(glob: string): string {
  const parts = glob.replace(/^\//, '').split('/');
  const magic = parts.findIndex((part) => /[*?[\]{},]/.test(part));
  return foldCase(parts.slice(0, magic === -1 ? -1 : magic).join('/'));
}

function sourceOf(glob: string, field: string): string {
  const pattern = glob.replace(/^\//, '');
  let source = '';
  let open = 0;
  for (let at = 0; at < pattern.length;) {
    const [piece, length] = pieceOf(pattern, at, open, field);
    open += piece === '(?:' ? 1 : piece === ')' ? -1 : 0;
    if (open > MAX_BRACES) throw fieldError(field, `has more than ${MAX_BRACES} braces in each other`);
    source += piece;
    at += length;
  }
  if (open > 0) throw fieldError(field, 'has a { without its }');
  return source;
}

/** The expression for the pattern at an index, and the number of characters it consumes. */
function pieceOf(pattern: string, at: number, open: number, field: string): [string, number] {
  const char = pattern[at]!;
  switch (char) {
    case '*':
      return stars(pattern, at);
    case '?':
      return ['[^/]', 1];
    case '[':
      return charClass(pattern, at, field);
    case '{':
      return ['(?:', 1];
    case ',':
      return [open > 0 ? '|' : ',', 1];
    case '}':
      return [open > 0 ? ')' : '\\}', 1];
    default: {
      const point = String.fromCodePoint(pattern.codePointAt(at)!);
      return [RE2JS.quote(point), point.length];
    }
  }
}

/** `**` as a whole path component matches any number of folders; other stars match within one name. */
function stars(pattern: string, at: number): [string, number] {
  let end = at;
  while (pattern[end] === '*') end += 1;
  const wholePart = (at === 0 || '/{,'.includes(pattern[at - 1]!)) && end - at === 2;
  if (wholePart && pattern[end] === '/') return ['(?:[^/]+/)*', end + 1 - at];
  if (wholePart && (end === pattern.length || '},'.includes(pattern[end]!))) return ['.*', end - at];
  return ['[^/]*', end - at];
}

function charClass(pattern: string, at: number, field: string): [string, number] {
  const match = /^\[([!^]?)(\]?[^\]/]*)\]/.exec(pattern.slice(at));
  if (match === null) throw fieldError(field, 'has a [ without its ]');
  const [whole, negated, members = ''] = match;
  const spansSlash = [...members.matchAll(/(.)-(.)/gsu)].some(
    ([, from = '', to = '']) => from < '/' && to > '/',
  );
  if (!negated && spansSlash) throw fieldError(field, 'has a range with "/" in it, which no name has');
  const escaped = members.replace(/[\\[\]^&~|]/g, '\\$&');
  return [`[${negated ? '^/' : ''}${escaped}]`, whole.length];
}
