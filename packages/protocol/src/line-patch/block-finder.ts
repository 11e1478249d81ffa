import { decode, encode } from './bytes.js';
import { bomLength, LF, CR } from './text.js';

/** The search stops after this many lines with an equal hash and different text. */
const MAX_FALSE_MATCHES = 16;
/** Limit of lines for all searches in one file together. */
const MAX_LINES_PASSED = 2 ** 24;

/** FNV-1a over bytes from..to. */
function hashOf(bytes: Uint8Array, from: number, to: number): number {
  let hash = 0x811c9dc5;
  for (let at = from; at < to; at += 1) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193);
  return hash | 0;
}

/**
 * Finds a block of lines that occurs exactly once in a file. Lines are hashed once, on first use; each search is
 * linear (Knuth, Morris, Pratt), and their number is bounded for large files, so that a batch full of wrong lines is
 * cheap to reject.
 */
export class BlockFinder {
  private lines: HashedLines | null = null;
  private passed = 0;

  constructor(private readonly bytes: Uint8Array) {}

  /**
   * @returns the 1-based line at which the block starts; null if it does not occur, occurs more than once, or the
   * limit was reached.
   */
  find(block: readonly string[]): number | null {
    if (block.length === 0 || this.passed > MAX_LINES_PASSED) return null;
    const { hashes } = (this.lines ??= hashLines(this.bytes));
    this.passed += hashes.length;
    const wanted = block.map((line) => {
      const text = encode(line);
      return hashOf(text, 0, text.length);
    });
    const border = bordersOf(wanted);
    let found: number | null = null;
    let falseMatches = 0;
    for (let line = 0, matched = 0; line < hashes.length; line += 1) {
      while (matched > 0 && hashes[line] !== wanted[matched]) matched = border[matched - 1] as number;
      if (hashes[line] === wanted[matched]) matched += 1;
      if (matched < wanted.length) continue;
      const first = line - matched + 1;
      matched = border[matched - 1] as number;
      if (!this.holds(block, first)) {
        falseMatches += 1;
        if (falseMatches === MAX_FALSE_MATCHES) return null;
      } else if (found !== null) return null;
      else found = first + 1;
    }
    return found;
  }

  private holds(block: readonly string[], first: number): boolean {
    return block.every((line, index) => {
      const { starts } = this.lines!;
      const from = starts[first + index] as number;
      const to = textEnd(this.bytes, from, starts[first + index + 1] ?? this.bytes.length);
      return decode(this.bytes, from, to) === line;
    });
  }
}

/** The start of each line of a text, and a hash of the line. */
interface HashedLines {
  hashes: Int32Array;
  starts: Uint32Array;
}

function hashLines(bytes: Uint8Array): HashedLines {
  const top = bomLength(bytes);
  let count = 0;
  for (let from: number = top; from < bytes.length; from = nextLine(bytes, from)) count += 1;
  const [hashes, starts] = [new Int32Array(count), new Uint32Array(count)];
  for (let from: number = top, line = 0; from < bytes.length; line += 1) {
    const next = nextLine(bytes, from);
    starts[line] = from;
    hashes[line] = hashOf(bytes, from, textEnd(bytes, from, next));
    from = next;
  }
  return { hashes, starts };
}

/** Start of the next line, byte by byte: calling indexOf costs more than most lines are long. */
function nextLine(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && bytes[at] !== LF) at += 1;
  return Math.min(at + 1, bytes.length);
}

function textEnd(bytes: Uint8Array, from: number, next: number): number {
  if (next === from || bytes[next - 1] !== LF) return next;
  return next - 2 >= from && bytes[next - 2] === CR ? next - 2 : next - 1;
}

/** For each prefix the length of its longest proper border: how much of a failed match can be kept. */
function bordersOf(wanted: readonly number[]): number[] {
  const border = [0];
  for (let at = 1, length = 0; at < wanted.length; at += 1) {
    while (length > 0 && wanted[at] !== wanted[length]) length = border[length - 1] as number;
    if (wanted[at] === wanted[length]) length += 1;
    border.push(length);
  }
  return border;
}
