import type { RE2JS } from 're2js';

/** Characters that are searched at a time, so that no look takes long however long the line is. */
const PIECE = 2_000;
/** A match of at most this many characters is whole in one of the pieces. */
const OVERLAP = 1_000;

/** Longest piece that is looked at where a match goes on beyond a cut, in characters; times the pattern's size. */
const MAX_PIECE = 64_000;
const MAX_WORK = 2_000_000;
/** Such looks at one line. */
const MAX_LONGER_LOOKS = 8;

/** A part of a line. */
export interface LinePiece {
  text: string;
  /** Index of its first character in the line. */
  start: number;
  isLast: boolean;
}

/** Looks through a line piece by piece; a short one is a piece. */
export class LineSearch {
  private longerLooks = MAX_LONGER_LOOKS;

  constructor(
    private readonly expression: RE2JS,
    private readonly line: string,
  ) {}

  /** The pieces, which overlap, from the one that begins at an index. */
  *pieces(from = 0): Generator<LinePiece> {
    for (let start = from; ; start += PIECE - OVERLAP) {
      const piece = this.pieceAt(start, PIECE);
      yield piece;
      if (piece.isLast) return;
    }
  }

  /**
   * Index in the line of what fits in a piece of it; null where nothing does, or only because the line is cut there: what
   * a pattern says of a place beside the cut is not true of the line.
   */
  placeIn({ text, start, isLast }: LinePiece): number | null {
    // Cheaper than to look for the place.
    if (!this.expression.test(text)) return null;
    const { atStart, atEnd } = assertionsOf(this.expression.pattern());
    const matcher = this.expression.matcher(text);
    let goesOn = false;
    while (matcher.find()) {
      if (atStart && start > 0 && matcher.start() === 0) continue;
      if (!atEnd || isLast || matcher.end() < text.length) return start + matcher.start();
      goesOn = true;
    }
    return goesOn ? this.placeInLonger(start, text.length) : null;
  }

  /** The same with as much more of the line as may be looked at in one go. */
  private placeInLonger(start: number, than: number): number | null {
    const length = Math.min(MAX_PIECE, Math.floor(MAX_WORK / this.expression.programSize()));
    if (length <= than || this.longerLooks === 0) return null;
    this.longerLooks -= 1;
    return this.placeIn(this.pieceAt(start, length));
  }

  private pieceAt(start: number, length: number): LinePiece {
    const end = start + length;
    return { text: this.line.slice(start, end), start, isLast: end >= this.line.length };
  }
}

/** Whether a pattern says anything of the place before, or behind, what it matches. */
function assertionsOf(pattern: string): { atStart: boolean; atEnd: boolean } {
  const bare = pattern.replace(/\\[^AzbB]/gs, '').replace(/\[\^/g, '[');
  return { atStart: /\^|\\[AbB]/.test(bare), atEnd: /\$|\\[zbB]/.test(bare) };
}
