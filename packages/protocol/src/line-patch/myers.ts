/** Lines aStart..aEnd of one sequence (from 0, end exclusive) correspond to bStart..bEnd of the other. */
export interface Hunk {
  aStart: number;
  aEnd: number;
  bStart: number;
  bEnd: number;
}

/**
 * A box that needs more than twice this number of edits is cut where the search has come furthest: correct, but not
 * minimal.
 */
const MAX_EDITS = 256;

/**
 * Budget of a search in compared lines: a base, and more per line. An edit on a diagonal costs as much as a few equal
 * lines in a row.
 */
const BASE_COST = 2 ** 26;
const COST_PER_LINE = 8;
const EDIT_COST = 8;

/**
 * The differences of two sequences of small numbers (from 0), top to bottom, never adjacent: Myers' algorithm in
 * linear space. Lines on only one side cannot match and are left out of the search. The hunks always turn `a` into
 * `b`; they are minimal if few edits are needed.
 * @param budget cost limit of the search. Once it is used up, the rest becomes one hunk: the result depends on the
 * input only, not on the clock.
 */
export function diffIds(
  a: Int32Array,
  b: Int32Array,
  budget = BASE_COST + COST_PER_LINE * (a.length + b.length),
): Hunk[] {
  const [aKept, bKept] = [sharedIndexes(a, b), sharedIndexes(b, a)];
  const pick = (ids: Int32Array, kept: Int32Array) => kept.map((index) => ids[index] as number);
  const differ = new Differ(pick(a, aKept), pick(b, bKept), budget);
  differ.compare(0, aKept.length, 0, bKept.length);
  const hunks: Hunk[] = [];
  let [aNext, bNext] = [0, 0];
  const matchAt = (aAt: number, bAt: number) => {
    if (aAt > aNext || bAt > bNext) hunks.push({ aStart: aNext, aEnd: aAt, bStart: bNext, bEnd: bAt });
    aNext = aAt + 1;
    bNext = bAt + 1;
  };
  let [aFrom, bFrom] = [0, 0];
  const end = { aStart: aKept.length, aEnd: 0, bStart: bKept.length, bEnd: 0 };
  for (const { aStart, aEnd, bEnd } of [...differ.hunks, end]) {
    for (; aFrom < aStart; aFrom += 1, bFrom += 1) matchAt(aKept[aFrom] as number, bKept[bFrom] as number);
    aFrom = aEnd;
    bFrom = bEnd;
  }
  matchAt(a.length, b.length);
  return hunks;
}

/** Positions of the elements of `ids` that `other` has as well. */
function sharedIndexes(ids: Int32Array, other: Int32Array): Int32Array {
  let highest = 0;
  for (const id of other) if (id > highest) highest = id;
  const has = new Uint8Array(highest + 1);
  for (const id of other) has[id] = 1;
  const indexes = new Int32Array(ids.length);
  let count = 0;
  for (let index = 0; index < ids.length; index += 1) {
    if (has[ids[index] as number] === 1) indexes[count++] = index;
  }
  return indexes.subarray(0, count);
}

/** A point of a box: numbers of lines of `a` and `b` before it. */
interface Point {
  a: number;
  b: number;
}

/** One of the two searches that meet in a box: from its top down, or from its end up. */
class Front {
  /** Passed lines of `a` by diagonal (passed lines of `a` minus those of `b`). */
  private readonly reached = new Int32Array(2 * MAX_EDITS + 3);
  private aFirst = 0;
  private bFirst = 0;
  private width = 0;
  private height = 0;

  constructor(
    private readonly a: Int32Array,
    private readonly b: Int32Array,
    private readonly direction: 1 | -1,
  ) {}

  /** Starts in a box of `width` lines of `a` and `height` lines of `b`, at the given first lines. */
  begin(aFirst: number, bFirst: number, width: number, height: number): void {
    this.aFirst = aFirst;
    this.bFirst = bFirst;
    this.width = width;
    this.height = height;
  }

  /** Passed lines of `a` on diagonal `k`. */
  at(k: number): number {
    return this.reached[k + MAX_EDITS + 1] as number;
  }

  /** Takes edit number `edits` into diagonal `k` and follows equal lines; returns how many, and records the progress. */
  advance(k: number, edits: number): number {
    const { a, b, aFirst, bFirst, direction, width, height } = this;
    const [down, right] = [this.at(k + 1), this.at(k - 1) + 1];
    // Entries beside the box, or not yet reached, belong to another box.
    const isDown = k === -edits || k === -height || (k !== edits && k !== width && right <= down);
    const from = edits === 0 ? 0 : isDown ? down : right;
    let x = from;
    while (x < width && x - k < height && a[aFirst + direction * x] === b[bFirst + direction * (x - k)])
      x += 1;
    this.reached[k + MAX_EDITS + 1] = x;
    return x - from;
  }

  /** The point of the box with the most progress. */
  furthest(): Point {
    let best = { a: 0, b: 0 };
    for (let k = -Math.min(MAX_EDITS, this.height); k <= Math.min(MAX_EDITS, this.width); k += 1) {
      const a = this.at(k);
      const b = a - k;
      if (a <= this.width && b >= 0 && b <= this.height && a + b > best.a + best.b) best = { a, b };
    }
    return best;
  }
}

class Differ {
  readonly hunks: Hunk[] = [];
  private readonly forward: Front;
  private readonly backward: Front;

  constructor(
    private readonly a: Int32Array,
    private readonly b: Int32Array,
    private budget: number,
  ) {
    this.forward = new Front(a, b, 1);
    this.backward = new Front(a, b, -1);
  }

  /** Adds the hunks of a box. There are few edits above a cut, so it recurses only there. */
  compare(aLow: number, aHigh: number, bLow: number, bHigh: number): void {
    const { a, b } = this;
    let [aFrom, aTo, bFrom, bTo] = [aLow, aHigh, bLow, bHigh];
    for (;;) {
      while (aFrom < aTo && bFrom < bTo && a[aFrom] === b[bFrom]) {
        aFrom += 1;
        bFrom += 1;
      }
      while (aFrom < aTo && bFrom < bTo && a[aTo - 1] === b[bTo - 1]) {
        aTo -= 1;
        bTo -= 1;
      }
      if (aFrom === aTo && bFrom === bTo) return;
      const cut = aFrom === aTo || bFrom === bTo ? null : this.cut(aFrom, aTo, bFrom, bTo);
      if (cut === null) return this.add(aFrom, aTo, bFrom, bTo);
      this.compare(aFrom, aFrom + cut.a, bFrom, bFrom + cut.b);
      aFrom += cut.a;
      bFrom += cut.b;
    }
  }

  private add(aStart: number, aEnd: number, bStart: number, bEnd: number): void {
    const last = this.hunks[this.hunks.length - 1];
    if (last !== undefined && last.aEnd === aStart && last.bEnd === bStart) {
      last.aEnd = aEnd;
      last.bEnd = bEnd;
    } else this.hunks.push({ aStart, aEnd, bStart, bEnd });
  }

  /**
   * A point of the box on a shortest path after half of the edits, or a good one if there are too many; null if the
   * budget is used up.
   */
  private cut(aFrom: number, aTo: number, bFrom: number, bTo: number): Point | null {
    const [width, height] = [aTo - aFrom, bTo - bFrom];
    const { forward, backward } = this;
    forward.begin(aFrom, bFrom, width, height);
    backward.begin(aTo - 1, bTo - 1, width, height);
    const most = Math.min(MAX_EDITS, Math.ceil((width + height) / 2));
    for (let edits = 0; edits <= most; edits += 1) {
      const down = this.step(forward, backward, edits, width, height);
      if (down !== null) return down;
      const up = this.step(backward, forward, edits, width, height);
      if (up !== null) return { a: width - up.a, b: height - up.b };
      if (this.budget < 0) return null;
    }
    return forward.furthest();
  }

  /** Takes one more edit on every diagonal of the box; returns where, seen from `mine`, the two searches meet. */
  private step(mine: Front, other: Front, edits: number, width: number, height: number): Point | null {
    const delta = width - height;
    const isForward = mine === this.forward;
    const reach = isForward ? edits - 1 : edits;
    const canMeet = (delta & 1) === (isForward ? 1 : 0);
    const lowest = edits <= height ? -edits : -height + ((edits - height) & 1);
    const highest = edits <= width ? edits : width - ((edits - width) & 1);
    for (let k = lowest; k <= highest && this.budget >= 0; k += 2) {
      this.budget -= EDIT_COST + mine.advance(k, edits);
      if (!canMeet || Math.abs(delta - k) > reach) continue;
      const x = mine.at(k);
      if (x + other.at(delta - k) >= width) return { a: x, b: x - k };
    }
    return null;
  }
}
