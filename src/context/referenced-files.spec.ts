import { lastSteps } from './referenced-files.js';

describe('The files of a session that are named', () => {
  const first = (count: number): number => lastSteps(Array.from({ length: count }, (_, at) => at))[0]!;

  it('are all of them up to a hundred', () => {
    expect(lastSteps([1, 2, 3])).toEqual([1, 2, 3]);
    expect(first(100)).toBe(0);
  });

  it('begin with the same file for 25 more, then leave out 25 at once', () => {
    expect([101, 125, 126, 150].map(first)).toEqual([25, 25, 50, 50]);
    expect(lastSteps(Array(1_000).fill(0)).length).toBe(100);
  });
});
