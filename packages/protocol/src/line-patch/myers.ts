/** Lines aStart..aEnd of one sequence (from 0, end exclusive) stand against bStart..bEnd of the other. */
export interface Hunk {
  aStart: number;
  aEnd: number;
  bStart: number;
  bEnd: number;
}

/** A box that needs more edits than twice this is cut where the search has come furthest: right, not minimal. */
const MAX_EDITS = 512;

/**
 * The differences of two sequences of line numbers, top to bottom, never adjacent: Myers' algorithm in linear
 * space. Lines that only one side has cannot match, so they are left out of the search.
 */
export function diffIds(a: Int32Array, b: Int32Array): Hunk[] {
  const [aKept, bKept] = [sharedIndexes(a, b), sharedIndexes(b, a)];
  const pick = (ids: Int32Array, kept: Int32Array) => kept.map((index) => ids[index] as number);
  const differ = new Differ(pick(a, aKept), pick(b, bKept));
  differ.compare(0, aKept.length, 0, bKept.length);
  const hunks: Hunk[] = [];
  let [aNext, bNext] = [0, 0];
  const matchAt = (aAt: number, bAt: number) => {
    if (aAt > aNext || bAt > bNext) hunks.push({ aStart: aNext, aEnd: aAt, bStart: bNext, bEnd: bAt });
    [aNext, bNext] = [aAt + 1, bAt + 1];
  };
  let [aFrom, bFrom] = [0, 0];
  const end = { aStart: aKept.length, aEnd: 0, bStart: bKept.length, bEnd: 0 };
  for (const { aStart, aEnd, bEnd } of [...differ.hunks, end]) {
    for (; aFrom < aStart; aFrom += 1, bFrom += 1) matchAt(aKept[aFrom] as number, bKept[bFrom] as number);
    [aFrom, bFrom] = [aEnd, bEnd];
  }
  matchAt(a.length, b.length);
  return hunks;
}

/** Where the ids of `ids` stand that `other` has as well. */
function sharedIndexes(ids: Int32Array, other: Int32Array): Int32Array {
  const has = new Set(other);
  return Int32Array.from(ids.keys()).filter((index) => has.has(ids[index] as number));
}

class Differ {
  readonly hunks: Hunk[] = [];
  private readonly forward = new Int32Array(2 * MAX_EDITS + 4);
  private readonly backward = new Int32Array(2 * MAX_EDITS + 4);

  constructor(
    private readonly a: Int32Array,
    private readonly b: Int32Array,
  ) {}

  compare(aLow: number, aHigh: number, bLow: number, bHigh: number): void {
    const { a, b } = this;
    let [aFrom, aTo, bFrom, bTo] = [aLow, aHigh, bLow, bHigh];
    while (aFrom < aTo && bFrom < bTo && a[aFrom] === b[bFrom]) {
      aFrom += 1;
      bFrom += 1;
    }
    while (aFrom < aTo && bFrom < bTo && a[aTo - 1] === b[bTo - 1]) {
      aTo -= 1;
      bTo -= 1;
    }
    if (aFrom === aTo && bFrom === bTo) return;
    const split = aFrom === aTo || bFrom === bTo ? null : this.split(aFrom, aTo, bFrom, bTo);
    if (split === null) return this.add(aFrom, aTo, bFrom, bTo);
    this.compare(aFrom, split.a, bFrom, split.b);
    this.compare(split.a, aTo, split.b, bTo);
  }

  private add(aStart: number, aEnd: number, bStart: number, bEnd: number): void {
    const last = this.hunks[this.hunks.length - 1];
    if (last !== undefined && last.aEnd === aStart && last.bEnd === bStart) {
      last.aEnd = aEnd;
      last.bEnd = bEnd;
    } else this.hunks.push({ aStart, aEnd, bStart, bEnd });
  }

  /** A point on a shortest path where half of the edits are done, or a good one if there are too many. */
  private split(aFrom: number, aTo: number, bFrom: number, bTo: number): { a: number; b: number } {
    const width = aTo - aFrom;
    const height = bTo - bFrom;
    const delta = width - height;
    const most = Math.min(MAX_EDITS, Math.ceil((width + height) / 2));
    this.forward.fill(0);
    this.backward.fill(0);
    const ahead = (x: number, y: number) => this.a[aFrom + x] === this.b[bFrom + y];
    const behind = (x: number, y: number) => this.a[aTo - 1 - x] === this.b[bTo - 1 - y];
    for (let edits = 0; edits <= most; edits += 1) {
      for (const isForward of [true, false]) {
        const [mine, other] = isForward ? [this.forward, this.backward] : [this.backward, this.forward];
        const reach = isForward ? edits - 1 : edits;
        const canMeet = (delta & 1) === (isForward ? 1 : 0);
        for (let k = -edits; k <= edits; k += 2) {
          const x = extend(mine, k, edits, width, height, isForward ? ahead : behind);
          if (!canMeet || Math.abs(delta - k) > reach) continue;
          if (x + (other[delta - k + MAX_EDITS + 1] as number) < width) continue;
          return isForward ? { a: aFrom + x, b: bFrom + x - k } : { a: aTo - x, b: bTo - (x - k) };
        }
      }
    }
    const point = this.furthest(width, height);
    return { a: aFrom + point.a, b: bFrom + point.b };
  }

  /** The point that the search from the top has come furthest to. */
  private furthest(width: number, height: number): { a: number; b: number } {
    let best = { a: 0, b: 0 };
    for (let k = -MAX_EDITS; k <= MAX_EDITS; k += 1) {
      const a = this.forward[k + MAX_EDITS + 1] as number;
      const b = a - k;
      if (a <= width && b >= 0 && b <= height && a + b > best.a + best.b) best = { a, b };
    }
    return best;
  }
}

/** Takes one edit into diagonal `k` and follows equal lines; returns and notes how far it got. */
function extend(
  reached: Int32Array,
  k: number,
  edits: number,
  width: number,
  height: number,
  equal: (x: number, y: number) => boolean,
): number {
  const at = k + MAX_EDITS + 1;
  const down = reached[at + 1] as number;
  const right = reached[at - 1] as number;
  let x = edits === 0 ? 0 : k === -edits || (k !== edits && right < down) ? down : right + 1;
  while (x < width && x - k < height && x >= 0 && x - k >= 0 && equal(x, x - k)) x += 1;
  reached[at] = x;
  return x;
}
