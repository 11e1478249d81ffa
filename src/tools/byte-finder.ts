/**
 * Finds every place of some bytes in others in linear time (Knuth, Morris, Pratt). What the platform has is faster on
 * most texts, and takes minutes on those that were made for it to.
 */
export class ByteFinder {
  /** For each prefix the length of its longest proper border: how far a failed match need not start anew. */
  private readonly borders: Int32Array;

  /** @param wanted one byte at least. */
  constructor(private readonly wanted: Uint8Array) {
    this.borders = bordersOf(wanted);
  }

  /** Bytes of what is looked for. */
  get length(): number {
    return this.wanted.length;
  }

  /** How many places there are, counted up to `most`. @param overlapping whether places may overlap. */
  count(text: Uint8Array, most: number, overlapping: boolean): number {
    let count = 0;
    this.each(text, overlapping, () => (count += 1) < most);
    return count;
  }

  /** Tells the offset of each place, from the top, for as long as `tell` gives true. */
  each(text: Uint8Array, overlapping: boolean, tell: (at: number) => boolean): void {
    const { wanted, borders } = this;
    for (let at = 0, matched = 0; at < text.length; at += 1) {
      const byte = text[at]!;
      while (matched > 0 && byte !== wanted[matched]) matched = borders[matched - 1]!;
      if (byte === wanted[matched]) matched += 1;
      if (matched < wanted.length) continue;
      if (!tell(at - matched + 1)) return;
      matched = overlapping ? borders[matched - 1]! : 0;
    }
  }
}

function bordersOf(wanted: Uint8Array): Int32Array {
  const borders = new Int32Array(wanted.length);
  for (let at = 1, length = 0; at < wanted.length; at += 1) {
    while (length > 0 && wanted[at] !== wanted[length]) length = borders[length - 1]!;
    if (wanted[at] === wanted[length]) length += 1;
    borders[at] = length;
  }
  return borders;
}
