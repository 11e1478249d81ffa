import type { RE2JS } from 're2js';
import { textBetween } from '@patchbay/protocol';
import { LineSearch } from './line-search.js';
import { linesOf } from './text-lines.js';

/** Shown characters of a line, and how many of them precede the match. */
const MAX_SHOWN = 300;
const SHOWN_BEFORE = 100;

/** A matching line. */
export type FoundLine = { path: string; line: number; text: string };

/** Result of a search. */
export interface FoundLines {
  matches: FoundLine[];
  filesSearched: number;
  /** There may be more: the limit was reached, or the time was up. */
  isTruncated: boolean;
}

/** Resume position of a search: finished lines, and the start of the next piece. */
export interface TextPlace {
  line: number;
  start: number;
}

/** Searches texts for matching lines and tracks the limit and the time. */
export class TextSearch {
  isTruncated = false;
  /** Where to continue after the time was up. */
  next: TextPlace | null = null;
  private readonly matches: FoundLine[] = [];
  private filesSearched = 0;
  /** Guarantees progress even with a very short time limit. */
  private hasLooked = false;

  /** @param end time limit, in `performance.now()` time */
  constructor(
    private readonly expression: RE2JS,
    private readonly limit: number,
    private readonly end: number,
  ) {}

  /** Adds the matching lines of a text, from a position on. */
  look(path: string, text: string, from: TextPlace = { line: 0, start: 0 }): void {
    if (isBeginning(from)) this.filesSearched += 1;
    let line = 0;
    for (const whole of linesOf(text)) {
      line += 1;
      if (line <= from.line) continue;
      const content = withoutEnding(whole);
      const at = this.placeIn(content, { line: line - 1, start: line - 1 === from.line ? from.start : 0 });
      if (this.next !== null) {
        if (isBeginning(this.next)) this.filesSearched -= 1;
        return;
      }
      if (at === null) continue;
      if (this.matches.length === this.limit) {
        this.isTruncated = true;
        return;
      }
      this.matches.push({ path, line, text: excerpt(content, at) });
    }
  }

  /** The result over all texts. */
  result(): FoundLines {
    const { matches, filesSearched, isTruncated } = this;
    return { matches, filesSearched, isTruncated };
  }

  /** Index of the match in a line; null if there is none or the time is up. */
  private placeIn(content: string, { line, start }: TextPlace): number | null {
    const search = new LineSearch(this.expression, content);
    for (const piece of search.pieces(start)) {
      if (this.hasLooked && performance.now() >= this.end) {
        this.next = { line, start: piece.start };
        this.isTruncated = true;
        return null;
      }
      this.hasLooked = true;
      const at = search.placeIn(piece);
      if (at !== null) return at;
    }
    return null;
  }
}

function isBeginning({ line, start }: TextPlace): boolean {
  return line === 0 && start === 0;
}

function withoutEnding(line: string): string {
  if (!line.endsWith('\n')) return line;
  return line.slice(0, line.endsWith('\r\n') ? -2 : -1);
}

/** The shown part of a line; of a long one the part around the match. */
function excerpt(line: string, at: number): string {
  if (line.length <= MAX_SHOWN) return line;
  const from = Math.max(0, Math.min(at - SHOWN_BEFORE, line.length - MAX_SHOWN));
  const part = textBetween(line, from, from + MAX_SHOWN);
  return `${from > 0 ? '…' : ''}${part}${from + MAX_SHOWN < line.length ? '…' : ''}`;
}
