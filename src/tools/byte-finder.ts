/**
 * Finds all occurrences of bytes in linear time (Knuth, Morris, Pratt). The platform's search takes minutes on
 * adversarial texts.
 */
export class ByteFinder {
  /** Length of the longest proper border of each prefix: how much of a failed match is kept. */
  private readonly borders: Int32Array;

  /** @param wanted at least one byte */
  constructor(private readonly wanted: Uint8Array) {
    this.borders = bordersOf(wanted);
  }

  /** Length of the searched bytes. */
  get length(): number {
    return this.wanted.length;
  }

  /** Counts occurrences, `overlapping` ones too if set, up to `most`. */
  count(text: Uint8Array, most: number, overlapping: boolean): number {
    let count = 0;
    this.each(text, overlapping, () => (count += 1) < most);
    return count;
  }

  /** Calls `visit` with the offset of each occurrence, in order, until it returns false. */
  each(text: Uint8Array, overlapping: boolean, visit: (at: number) => boolean): void {
    const { wanted, borders } = this;
    for (let at = 0, matched = 0; at < text.length; at += 1) {
      const byte = text[at]!;
      while (matched > 0 && byte !== wanted[matched]) matched = borders[matched - 1]!;
      if (byte === wanted[matched]) matched += 1;
      if (matched < wanted.length) continue;
      if (!visit(at - matched + 1)) return;
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
