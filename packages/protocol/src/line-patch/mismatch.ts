import {
  type DeleteChange,
  type NumberedLine,
  type PatchChange,
  type PatchFaultDetails,
} from '../patch-batch.js';
import { type ReplaceChange } from '../patch-batch.js';
import { BlockFinder } from './block-finder.js';
import { mismatchHint } from './hint.js';
import { cut } from './shape.js';
import { splitLines } from './text.js';

const MAX_SHOWN_LINES = 50;
/** Limits of shown characters for one line and for all lines of a fault. */
const MAX_SHOWN_CHARS = 2_000;
const MAX_FAULT_CHARS = 16_000;

/** Message and details of a fault, created on demand: only shown faults cost anything. */
export interface LazyReport {
  message: () => string;
  details: () => PatchFaultDetails;
}

/** Describes what the file has instead of the expected lines, so that one more call can correct it. */
export class MismatchReporter {
  private readonly finder: BlockFinder;

  constructor(private readonly original: Uint8Array) {
    this.finder = new BlockFinder(original);
  }

  /** LINES_MISMATCH for a range at bytes from..to; `firstWrong` is an index into it. */
  mismatch(change: ReplaceChange | DeleteChange, from: number, to: number, firstWrong: number): LazyReport {
    const report = once(() => {
      const actual = splitLines(this.original.subarray(from, to), 0).map(({ text }) => text);
      return this.makeMismatch(change, actual, firstWrong);
    });
    return { message: () => report().message, details: () => report().details };
  }

  private makeMismatch(change: ReplaceChange | DeleteChange, actual: string[], firstWrong: number) {
    const { startLine, expectedOriginalLines: expected } = change;
    const hint = mismatchHint(expected, actual);
    const foundAt = this.find(expected);
    const at = `Line ${startLine + firstWrong} is ${quote(actual[firstWrong])}, but `;
    const said = `expectedOriginalLines[${firstWrong}] says ${quote(expected[firstWrong])}.`;
    const message = [at + said, hint, mendBy(foundAt, expected.length)].filter(Boolean).join(' ');
    const shown = window(actual, startLine, firstWrong);
    const details: PatchFaultDetails = { firstDifference: startLine + firstWrong, actualLines: shown };
    if (shown.length < actual.length) details.omittedLines = actual.length - shown.length;
    return { message, details: { ...details, hint, foundAt } };
  }

  /** Where the lines occur once; as in a read, a carriage return at their end may belong to the ending. */
  private find(expected: readonly string[]): number | null {
    const found = this.finder.find(expected);
    if (found !== null || !expected.some((line) => line.endsWith('\r'))) return found;
    return this.finder.find(expected.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line)));
  }

  /** RANGE_BEYOND_END: `line` is the coordinate beyond the end of the file. */
  beyondEnd(change: PatchChange, line: number, lineCount: number): LazyReport {
    const expected = change.operation === 'insert' ? [] : change.expectedOriginalLines;
    const found = once(() => this.find(expected));
    const field = change.operation === 'insert' ? 'afterLine' : 'endLine';
    const message = () => {
      const bounds = change.operation === 'insert' ? `0 to ${lineCount}` : `1 to ${lineCount}`;
      const mend =
        change.operation === 'insert'
          ? `To append, use afterLine ${lineCount}.`
          : lineCount === 0
            ? 'The file is empty: use insert with afterLine 0.'
            : mendBy(found(), expected.length);
      const lines = lineCount === 1 ? '1 line' : `${lineCount} lines`;
      const allowed = lineCount === 0 && change.operation !== 'insert' ? '' : ` (allowed: ${bounds})`;
      return `${field} is ${line}, but the file has ${lines}${allowed}. ${mend}`;
    };
    return {
      message,
      details: () => (expected.length === 0 ? { lineCount } : { lineCount, foundAt: found() }),
    };
  }
}

function mendBy(foundAt: number | null, count: number): string {
  if (foundAt === null) return 'Copy the lines exactly as they are in the file, or correct the line numbers.';
  const last = foundAt + count - 1;
  const place = count === 1 ? `line ${foundAt}` : `lines ${foundAt} to ${last}`;
  return `The expected block is at ${place}: use startLine ${foundAt}, endLine ${last}, or copy the lines shown.`;
}

const quote = (text = ''): string => JSON.stringify(cut(text, 160));

/** The numbered lines of a range; for a long one those around the first difference. */
function window(actual: string[], startLine: number, firstWrong: number): NumberedLine[] {
  let [from, to] = [firstWrong, firstWrong + 1];
  let left = MAX_FAULT_CHARS - costOf(actual[firstWrong]);
  const takes = (at: number): boolean => {
    const cost = costOf(actual[at]);
    if (at < 0 || at >= actual.length || to - from >= MAX_SHOWN_LINES || cost > left) return false;
    left -= cost;
    return true;
  };
  for (let grows = true; grows;) {
    grows = false;
    if (takes(from - 1)) [from, grows] = [from - 1, true];
    if (takes(to)) [to, grows] = [to + 1, true];
  }
  return actual
    .slice(from, to)
    .map((text, index) => ({ line: startLine + from + index, text: cutLine(text) }));
}

const costOf = (text = ''): number => Math.min(text.length, MAX_SHOWN_CHARS);

/** The beginning of a long line, and how much is cut. */
function cutLine(text: string): string {
  const more = text.length - MAX_SHOWN_CHARS;
  return more > 0 ? `${cut(text, MAX_SHOWN_CHARS)} (${more} more characters)` : text;
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
