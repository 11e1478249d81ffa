import { type Ending } from '../patch-batch.js';
import { endingAt, LF } from './text.js';

/** Words that are counted at once: each of four byte counters, and their sum, must stay below 256. */
const BLOCK = 60;

/**
 * Marks the line feeds in four bytes with a 1 each. A byte equal to LF is zero after the XOR, and only a zero byte
 * keeps its high bit clear in the sum and in itself.
 */
function lineFeedsIn(word: number): number {
  const x = word ^ 0x0a0a0a0a;
  return ~(((x & 0x7f7f7f7f) + 0x7f7f7f7f) | x | 0x7f7f7f7f) >>> 7;
}

/** Adds up four byte counters. */
const sumOf = (counters: number): number => Math.imul(counters, 0x01010101) >>> 24;

/**
 * Moves down a file line by line without creating strings. It never goes back, so a patch needs one pass for any
 * number of changes.
 */
export class LineCursor {
  /** Number of lines that end before `offset`. */
  line = 0;
  /** Byte offset of the first line not passed; the length of the file at its end. */
  offset: number;
  private readonly words: Int32Array;
  private blockFeeds = 0;
  private nearAt = -1;
  private near: Ending = '\n';

  /** @param start offset of the first byte after the byte order mark. */
  constructor(
    private readonly bytes: Uint8Array,
    private readonly start: number,
  ) {
    this.offset = start;
    const wordCount = Math.floor((bytes.byteOffset + bytes.length) / 4);
    this.words = new Int32Array(bytes.buffer, 0, wordCount);
  }

  /**
   * Moves behind line `line` (0: stays at the top).
   * @returns false if the file has fewer lines; the cursor is then at the end and `line` is their number.
   * @throws RangeError if the cursor is already further down: the changes were not parsed.
   */
  seek(line: number): boolean {
    if (line < this.line) throw new RangeError('changes must be parsed and in file order');
    if (this.offset === this.bytes.length) return line === this.line;
    const left = this.pass(line - this.line);
    const unended = left > 0 && this.offset > this.start && this.bytes[this.offset - 1] !== LF ? 1 : 0;
    this.line = line - left + unended;
    return this.line === line;
  }

  /** Passes `count` line feeds; returns how many the file lacks. */
  private pass(count: number): number {
    const { bytes, words } = this;
    const base = bytes.byteOffset;
    let at = this.offset;
    let left = count;
    while (left > 0 && at < bytes.length && ((base + at) & 3) !== 0) if (bytes[at++] === LF) left -= 1;
    if (left > 0 && at < bytes.length) {
      let word = (base + at) / 4;
      word = this.passBlocks(word, left);
      left -= this.blockFeeds;
      for (; word < words.length; word += 1) {
        const feeds = sumOf(lineFeedsIn(words[word] as number));
        if (feeds >= left) break;
        left -= feeds;
      }
      at = word * 4 - base;
    }
    while (left > 0 && at < bytes.length) if (bytes[at++] === LF) left -= 1;
    this.offset = at;
    return left;
  }

  /**
   * Passes whole blocks while they hold fewer than `most` line feeds; returns the next word and stores the number in
   * `blockFeeds`. Four words per step without a branch: twice as fast as word by word.
   */
  private passBlocks(from: number, most: number): number {
    const { words } = this;
    let word = from;
    let passed = 0;
    for (; word + BLOCK <= words.length; word += BLOCK) {
      let counters = 0;
      for (let next = word; next < word + BLOCK; next += 4) {
        const two = lineFeedsIn(words[next] as number) + lineFeedsIn(words[next + 1] as number);
        const more = lineFeedsIn(words[next + 2] as number) + lineFeedsIn(words[next + 3] as number);
        counters = (counters + two + more) | 0;
      }
      const feeds = sumOf(counters);
      if (passed + feeds >= most) break;
      passed += feeds;
    }
    this.blockFeeds = passed;
    return word;
  }

  /** The ending of the line before the cursor; "" if the file ends there without one. */
  passedEnding(): Ending {
    const last = this.offset - 1;
    return this.bytes[last] === LF ? endingAt(this.bytes, last, this.start) : '';
  }

  /**
   * The ending of a new line at the cursor: that of the nearest line above that has one, else below, else LF. Cached
   * per position, as a million inserts may share one.
   */
  nearEnding(): Ending {
    if (this.nearAt === this.offset) return this.near;
    const { offset, start } = this;
    if (offset > start && this.bytes[offset - 1] === LF) return endingAt(this.bytes, offset - 1, start);
    const above = offset > start ? this.bytes.lastIndexOf(LF, offset - 1) : -1;
    const at = above >= this.start ? above : this.bytes.indexOf(LF, this.offset);
    this.nearAt = this.offset;
    this.near = at < 0 ? '\n' : endingAt(this.bytes, at, this.start);
    return this.near;
  }
}
