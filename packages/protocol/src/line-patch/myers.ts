/** Lines aStart..aEnd of one sequence (from 0, end exclusive) stand against bStart..bEnd of the other. */
export interface Hunk {
  aStart: number;
  aEnd: number;
  bStart: number;
  bEnd: number;
}

/** Boxes that need more edits than this are one hunk: right, not minimal, and never quadratic. */
const MAX_EDITS = 2_000;

/**
 * The differences of two sequences of line numbers, top to bottom, never adjacent: Myers' algorithm in linear
 * space, minimal but for boxes with very many edits.
 */
export function diffIds(a: Int32Array, b: Int32Array): Hunk[] {
  const differ = new Differ(a, b);
  differ.compare(0, a.length, 0, b.length);
  return differ.hunks;
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

  /** A point on a shortest path where half of the edits are done; null if there are too many edits. */
  private split(aFrom: number, aTo: number, bFrom: number, bTo: number): { a: number; b: number } | null {
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
    return null;
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
