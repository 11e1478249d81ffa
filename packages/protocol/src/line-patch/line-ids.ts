import { concatBytes } from './bytes.js';
import { LineCursor } from './line-cursor.js';
import { LF } from './text.js';

/**
 * Limit of probes and of comparisons with lines of the same hash; beyond it a line counts as new. Only crafted input
 * reaches it.
 */
const MAX_PLACES = 128;
const MAX_FALSE_MATCHES = 8;

/** An upper bound for distinct lines of less than four bytes. */
const MOST_SHORT_LINES = 2 ** 17;

/** The numbers of the lines of two texts; they count up from 0 without gaps. */
export interface LineIds {
  before: Int32Array;
  after: Int32Array;
}

/**
 * Numbers the lines of two texts: lines with the same number are equal, including their endings. Linear for all
 * inputs: lines that were crafted to collide may get several numbers and are then shown as changed.
 */
export function lineIds(before: Uint8Array, after: Uint8Array): LineIds {
  const [beforeCount, afterCount] = [countLines(before), countLines(after)];
  const table = new LineTable(concatBytes([before, after]), beforeCount + afterCount);
  const ids = table.number(0, before.length, beforeCount);
  return { before: ids, after: table.number(before.length, before.length + after.length, afterCount) };
}

function countLines(bytes: Uint8Array): number {
  const cursor = new LineCursor(bytes, 0);
  cursor.seek(bytes.length + 1);
  return cursor.line;
}

/** A hash table of lines with open addressing, as memory access dominates the cost. */
class LineTable {
  private count = 0;
  /** Two entries per slot: a hash, and the number of its line plus 1, or 0; at most half of the slots are used. */
  private readonly places: Int32Array;
  /** Two entries per number: the start of its line, and its size in bytes. */
  private readonly lines: Int32Array;

  constructor(
    private readonly bytes: Uint8Array,
    lineCount: number,
  ) {
    // The table holds distinct lines: two million line feeds are one.
    const kinds = Math.min(lineCount, MOST_SHORT_LINES + Math.floor(bytes.length / 4));
    this.places = new Int32Array(2 * 2 ** Math.ceil(Math.log2(2 * kinds + 1)));
    this.lines = new Int32Array(2 * lineCount);
  }

  /** The numbers of the `lineCount` lines in bytes from..to. */
  number(from: number, to: number, lineCount: number): Int32Array {
    const { bytes } = this;
    const ids = new Int32Array(lineCount);
    for (let line = 0, at = from; line < lineCount; line += 1) {
      const start = at;
      // FNV-1a
      let hash = 0x811c9dc5 | 0;
      while (at < to) {
        const byte = bytes[at++] as number;
        hash = Math.imul(hash ^ byte, 0x01000193);
        if (byte === LF) break;
      }
      ids[line] = this.idOf(start, at - start, hash ^ (hash >>> 15));
    }
    return ids;
  }

  private idOf(start: number, length: number, hash: number): number {
    const { places, lines } = this;
    const id = this.count;
    let falseMatches = 0;
    for (let look = 0; look < MAX_PLACES && falseMatches < MAX_FALSE_MATCHES; look += 1) {
      const place = (2 * (hash + look)) & (places.length - 1);
      const taken = places[place + 1] as number;
      if (taken === 0) {
        places[place] = hash;
        places[place + 1] = id + 1;
        break;
      }
      if (places[place] !== hash) continue;
      if (this.holds(taken - 1, start, length)) return taken - 1;
      falseMatches += 1;
    }
    lines[2 * id] = start;
    lines[2 * id + 1] = length;
    this.count += 1;
    return id;
  }

  private holds(id: number, start: number, length: number): boolean {
    const { bytes, lines } = this;
    if (lines[2 * id + 1] !== length) return false;
    const first = lines[2 * id] as number;
    for (let at = 0; at < length; at += 1) if (bytes[first + at] !== bytes[start + at]) return false;
    return true;
  }
}
