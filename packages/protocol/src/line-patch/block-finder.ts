import { Buffer } from 'node:buffer';
import { bomLength, LF, CR } from './text.js';

/** Lines that look equal by hash but are not: after this many the search gives up. */
const MAX_FALSE_MATCHES = 16;

/** FNV-1a over bytes from..to. */
function hashOf(bytes: Buffer, from: number, to: number): number {
  let hash = 0x811c9dc5;
  for (let at = from; at < to; at += 1) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193);
  return hash;
}

/**
 * Finds a block of lines that occurs exactly once in a file. The lines are hashed once, when first asked, and
 * each search is linear (Knuth, Morris, Pratt), so that a batch full of wrong lines stays cheap to refuse.
 */
export class BlockFinder {
  private hashes: number[] | null = null;
  private readonly starts: number[] = [];

  constructor(private readonly bytes: Buffer) {}

  /** @returns the 1-based line at which the block starts, or null if it occurs never or more than once. */
  find(block: readonly string[]): number | null {
    if (block.length === 0) return null;
    const hashes = (this.hashes ??= this.hashLines());
    const wanted = block.map((line) => {
      const text = Buffer.from(line);
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
      const from = this.starts[first + index] as number;
      const to = this.textEnd(from, this.starts[first + index + 1] ?? this.bytes.length);
      return this.bytes.toString('utf8', from, to) === line;
    });
  }

  private textEnd(from: number, next: number): number {
    if (next === from || this.bytes[next - 1] !== LF) return next;
    return next - 2 >= from && this.bytes[next - 2] === CR ? next - 2 : next - 1;
  }

  private hashLines(): number[] {
    const { bytes, starts } = this;
    const hashes: number[] = [];
    for (let from: number = bomLength(bytes); from < bytes.length;) {
      const at = bytes.indexOf(LF, from);
      const next = at < 0 ? bytes.length : at + 1;
      starts.push(from);
      hashes.push(hashOf(bytes, from, this.textEnd(from, next)));
      from = next;
    }
    return hashes;
  }
}

/** For each prefix the length of its longest proper border: how far a failed match need not start anew. */
function bordersOf(wanted: readonly number[]): number[] {
  const border = [0];
  for (let at = 1, length = 0; at < wanted.length; at += 1) {
    while (length > 0 && wanted[at] !== wanted[length]) length = border[length - 1] as number;
    if (wanted[at] === wanted[length]) length += 1;
    border.push(length);
  }
  return border;
}
