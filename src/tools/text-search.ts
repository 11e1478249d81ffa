import type { JsonObject } from '@patchbay/protocol';
import type { RE2JS } from 're2js';
import { LineSearch } from './line-search.js';
import { linesOf } from './text-lines.js';
import { TimeBudget } from './time-budget.js';

const MAX_MS = 5_000;
/** Characters of a line that are shown, and how many of them are before the match. */
const MAX_SHOWN = 300;
const SHOWN_BEFORE = 100;

/** Looks for lines that fit, text by text: what was found so far, and whether there is room and time for more. */
export class TextSearch {
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

/** A line as it is shown: of a long one what is around the match. */
function excerpt(line: string, at: number): string {
  if (line.length <= MAX_SHOWN) return line;
  const from = Math.max(0, Math.min(at - SHOWN_BEFORE, line.length - MAX_SHOWN));
  const part = line.slice(from, from + MAX_SHOWN).toWellFormed();
  return `${from > 0 ? '…' : ''}${part}${from + MAX_SHOWN < line.length ? '…' : ''}`;
}
