import fc from 'fast-check';
import { diffIds } from './myers.js';

/** Rebuilds `b` from `a` and the hunks, so that only equal lines may lie between them. */
function rebuild(a: number[], b: number[]): number[] {
  const result: number[] = [];
  let from = 0;
  for (const { aStart, aEnd, bStart, bEnd } of diffIds(Int32Array.from(a), Int32Array.from(b))) {
    expect(aEnd - aStart + bEnd - bStart).toBeGreaterThan(0);
    result.push(...a.slice(from, aStart), ...b.slice(bStart, bEnd));
    from = aEnd;
  }
  return [...result, ...a.slice(from)];
}

const editsOf = (a: number[], b: number[]) =>
  diffIds(Int32Array.from(a), Int32Array.from(b)).reduce(
    (sum, { aStart, aEnd, bStart, bEnd }) => sum + aEnd - aStart + bEnd - bStart,
    0,
  );

/** The least number of edits, by the textbook table. */
function leastEdits(a: number[], b: number[]): number {
  let row = b.map((_, index) => index + 1);
  row.unshift(0);
  for (const [i, x] of a.entries()) {
    const next = [i + 1];
    for (const [j, y] of b.entries()) {
      next.push(x === y ? (row[j] as number) : Math.min(row[j + 1] as number, next[j] as number) + 1);
    }
    row = next;
  }
  return row[b.length] as number;
}

describe('the difference of two sequences', () => {
  const ids = fc.array(fc.nat(4), { maxLength: 30 });

  it('leads from one to the other with the fewest edits', () => {
    fc.assert(
      fc.property(ids, ids, (a, b) => {
        expect(rebuild(a, b)).toEqual(b);
        expect(editsOf(a, b)).toBe(leastEdits(a, b));
      }),
    );
  });

  it('leads there as well when there are too many edits to be minimal', () => {
    const next = (seed: number) => (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    const random = (seed: number) => {
      let state = seed;
      return Array.from({ length: 6_000 }, () => (state = next(state)) % 50);
    };
    const [a, b] = [random(1), random(2)];
    expect(rebuild(a, b)).toEqual(b);
  });
});
