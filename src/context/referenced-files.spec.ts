import { lastSteps } from './referenced-files.js';

describe('The named files of a session', () => {
  const first = (count: number): number => lastSteps(Array.from({ length: count }, (_, at) => at))[0]!;

  it('are complete up to a hundred', () => {
    expect(lastSteps([1, 2, 3])).toEqual([1, 2, 3]);
    expect(first(100)).toBe(0);
  });

  it('keep the same first file for 25 additions, then drop 25 at once', () => {
    expect([101, 125, 126, 150].map(first)).toEqual([25, 25, 50, 50]);
    expect(lastSteps(Array(1_000).fill(0)).length).toBe(100);
  });
});
