import type { RE2JS } from 're2js';

/** Characters that are searched at a time, so that no look takes long however long the line is. */
const PIECE = 2_000;
/** A match of at most this many characters is whole in one of the pieces. */
const OVERLAP = 1_000;

/** What looks at the characters beside a match, which at a cut are not the line's. A class like `[^a]` counts, too. */
const LOOKS_AROUND = /[$^]|\\[AzbB]/;

/** A part of a line. */
export interface LinePiece {
  text: string;
  /** Index of its first character in the line. */
  start: number;
  isLast: boolean;
}

/** A line in pieces that overlap; a short one is a piece. */
export function* piecesOf(line: string): Generator<LinePiece> {
  for (let start = 0; ; start += PIECE - OVERLAP) {
    const isLast = start + PIECE >= line.length;
    yield { text: line.slice(start, start + PIECE), start, isLast };
    if (isLast) return;
  }
}

/** Index in the line of what fits in a piece of it; null where nothing does, or only because the line is cut there. */
export function placeInPiece(expression: RE2JS, { text, start, isLast }: LinePiece): number | null {
  // Cheaper than to look for the place.
  if (!expression.test(text)) return null;
  const anywhere = !LOOKS_AROUND.test(expression.pattern());
  const matcher = expression.matcher(text);
  while (matcher.find()) {
    const isAtCut = (start > 0 && matcher.start() === 0) || (!isLast && matcher.end() === text.length);
    if (anywhere || !isAtCut) return start + matcher.start();
  }
  return null;
}
