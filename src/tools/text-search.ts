import type { RE2JS } from 're2js';
import { textBetween } from '@patchbay/protocol';
import { LineSearch } from './line-search.js';
import { linesOf } from './text-lines.js';

/** Characters of a line that are shown, and how many of them are before the match. */
const MAX_SHOWN = 300;
const SHOWN_BEFORE = 100;

/** A line that fits. */
export type FoundLine = { path: string; line: number; text: string };

/** What a search has found. */
export interface FoundLines {
  matches: FoundLine[];
  filesSearched: number;
  /** There may be more: the limit was reached, or the time was up. */
  isTruncated: boolean;
}

/** Where in a text a search goes on: how many lines are done, and where in the next one the next piece begins. */
export interface TextPlace {
  line: number;
  start: number;
}

/** Looks for lines that fit, text by text: what was found so far, and whether there is room and time for more. */
export class TextSearch {
  isTruncated = false;
  /** Where it goes on, where the time was up. */
  next: TextPlace | null = null;
  private readonly matches: FoundLine[] = [];
  private filesSearched = 0;
  /** However short the time is, some of the text is looked at. */
  private hasLooked = false;

  /** @param end when the time is up, on the clock of `performance.now()`. */
  constructor(
    private readonly expression: RE2JS,
    private readonly limit: number,
    private readonly end: number,
  ) {}

  /** Adds the lines of a text that fit, from a place on. */
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

  /** What was found in all of the texts. */
  result(): FoundLines {
    const { matches, filesSearched, isTruncated } = this;
    return { matches, filesSearched, isTruncated };
  }

  /** Where a line fits; null where it does not, or the time is up. */
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

/** A line as it is shown: of a long one what is around the match. */
function excerpt(line: string, at: number): string {
  if (line.length <= MAX_SHOWN) return line;
  const from = Math.max(0, Math.min(at - SHOWN_BEFORE, line.length - MAX_SHOWN));
  const part = textBetween(line, from, from + MAX_SHOWN);
  return `${from > 0 ? '…' : ''}${part}${from + MAX_SHOWN < line.length ? '…' : ''}`;
}
