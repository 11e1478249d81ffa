import fc from 'fast-check';
import { diffIds } from './myers.js';

/** Rebuilds `b` from `a` and the hunks, so that only equal lines may be between them. */
function rebuild(a: number[], b: number[], budget?: number): number[] {
  const result: number[] = [];
  let from = 0;
  for (const { aStart, aEnd, bStart, bEnd } of diffIds(Int32Array.from(a), Int32Array.from(b), budget)) {
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

/** The least number of edits, by dynamic programming. */
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

  it('is correct if there are too many edits to be minimal', () => {
    const [a, b] = [random(1, 2_000), random(2, 2_000)];
    expect(rebuild(a, b, Infinity)).toEqual(b);
  });

  it('is correct at any cost', () => {
    fc.assert(
      fc.property(ids, ids, fc.nat(2_000), (a, b, budget) => {
        expect(rebuild(a, b, budget)).toEqual(b);
      }),
    );
  });

  it('is one hunk, without the equal lines at both ends, with a budget of zero', () => {
    const [a, b] = [Int32Array.of(9, 9, 1, 2, 3, 4, 8), Int32Array.of(9, 9, 4, 3, 2, 1, 8)];
    expect(diffIds(a, b, -1)).toEqual([{ aStart: 2, aEnd: 6, bStart: 2, bEnd: 6 }]);
  });

  it('keeps what was found before the budget was used up, and the rest as one hunk', () => {
    const [a, b] = [random(1, 20_000), random(2, 20_000)];
    const hunks = diffIds(Int32Array.from(a), Int32Array.from(b), 20_000_000);
    const { aStart, aEnd, bStart, bEnd } = hunks.at(-1)!;
    expect(hunks.length).toBeGreaterThan(500);
    expect(Math.min(aEnd - aStart, bEnd - bStart)).toBeGreaterThan(5_000);
    expect(rebuild(a, b, 20_000_000)).toEqual(b);
  });
});

/** Deterministic numbers below 50. */
function random(seed: number, length: number): number[] {
  let state = seed;
  return Array.from({ length }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * 50);
  });
}
