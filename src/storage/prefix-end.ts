const LAST = 0x10ffff;

/** The least text that is above every text with this prefix, by code point; null if there is none. */
export function prefixEnd(prefix: string): string | null {
  const points = [...prefix];
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    const point = last.codePointAt(0)!;
    if (point === LAST) continue;
    // Skips lone surrogates, which are not valid text.
    const next = point === 0xd7ff ? 0xe000 : point + 1;
    return points.join('') + String.fromCodePoint(next);
  }
  return null;
}
