import type { RE2JS } from 're2js';

/** Characters per match, so that long lines do not block. */
const PIECE = 2_000;
/** Matches up to this many characters are whole in some piece. */
const OVERLAP = 1_000;

/** Longest extended piece, in characters times the pattern's size, for a match that crosses a cut. */
const MAX_PIECE = 64_000;
const MAX_WORK = 2_000_000;
/** Extended pieces per line. */
const MAX_LONGER_LOOKS = 8;

/** A part of a line. */
export interface LinePiece {
  text: string;
  /** Index of its first character in the line. */
  start: number;
  isLast: boolean;
}

/** Searches a line in pieces; a short line is one piece. */
export class LineSearch {
  private longerLooks = MAX_LONGER_LOOKS;

  constructor(
    private readonly expression: RE2JS,
    private readonly line: string,
  ) {}

  /** The overlapping pieces from an index on. */
  *pieces(from = 0): Generator<LinePiece> {
    for (let start = from; ; start += PIECE - OVERLAP) {
      const piece = this.pieceAt(start, PIECE);
      yield piece;
      if (piece.isLast) return;
    }
  }

  /**
   * Index in the line of a match in the piece; null if there is none, or it exists only because of the cut. Assertions
   * next to a cut do not hold for the line.
   */
  placeIn({ text, start, isLast }: LinePiece): number | null {
    // A test is cheaper than locating the match.
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

  /** Searches again with a longer piece. */
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

/** Whether a pattern asserts something before or after its match. */
function assertionsOf(pattern: string): { atStart: boolean; atEnd: boolean } {
  const stripped = pattern.replace(/\\[^AzbB]/gs, '').replace(/\[\^/g, '[');
  return { atStart: /\^|\\[AbB]/.test(stripped), atEnd: /\$|\\[zbB]/.test(stripped) };
}
