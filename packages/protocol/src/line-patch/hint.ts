import { isStreamSafe } from '../doc-path.js';

/** A line number before a line, as viewers and numbered reads show it. */
const NUMBERED = /^\s*L?\d+(?:\s*[:|→)>]\s?|\t|\s{1,2})/;

const composed = (text: string): string => text.normalize('NFC');
const bare = (text: string): string => text.replace(/\s+/gu, '');
const indentOf = (text: string): string => /^[ \t]*/.exec(text)?.[0] ?? '';

type Same = (expected: string, actual: string) => boolean;

/** Whether `same` holds for all pairs of lines. */
function all(expected: string[], actual: string[], same: Same): boolean {
  return expected.length === actual.length && expected.every((line, at) => same(line, actual[at] ?? ''));
}

function whitespaceHint(expected: string[], actual: string[]): string {
  if (all(expected, actual, (a, b) => a.trimEnd() === b.trimEnd())) {
    return 'The lines differ only in whitespace at the end of the line.';
  }
  if (all(expected, actual, (a, b) => a.trimStart() === b.trimStart())) {
    const tabs = actual.some((line) => indentOf(line).includes('\t'));
    const sentTabs = expected.some((line) => indentOf(line).includes('\t'));
    const kind = tabs === sentTabs ? '' : `: the file has ${tabs ? 'tabs' : 'spaces'} there`;
    return `The lines differ only in whitespace at the start of the line${kind}.`;
  }
  return 'The lines differ only in whitespace (tabs, spaces, no-break spaces).';
}

/**
 * Guesses why expected lines differ from the actual ones, as help for correcting them; a patch is never applied on
 * such a guess.
 * @returns a sentence, or null if no known mistake explains the whole difference.
 */
export function mismatchHint(expected: string[], actual: string[]): string | null {
  if (all(expected, actual, (a, b) => a.replace(/^\uFEFF/, '') === b)) {
    return 'The expected line starts with a byte order mark (U+FEFF), which is not part of line 1: remove it.';
  }
  if (all(expected, actual, (a, b) => bare(a) === bare(b))) return whitespaceHint(expected, actual);
  if (all(expected, actual, (a, b) => isStreamSafe(a) && isStreamSafe(b) && composed(a) === composed(b))) {
    const form = all(actual, actual, (a) => a === composed(a)) ? 'composed (NFC)' : 'decomposed';
    return `The lines differ only in Unicode form: the file's is ${form}; copy its characters unchanged.`;
  }
  if (all(expected, actual, (a, b) => NUMBERED.test(a) && a.replace(NUMBERED, '').trim() === b.trim())) {
    return 'The expected lines start with line numbers, which are not part of the text: remove them.';
  }
  if (all(expected, actual, (a, b) => a.toLowerCase() === b.toLowerCase())) {
    return 'The lines differ only in upper and lower case.';
  }
  return null;
}
