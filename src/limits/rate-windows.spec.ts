import { RateWindows } from './rate-windows.js';

describe('a rate window', () => {
  it('is over at its time, also for who never stops trying', () => {
    let now = 0;
    const windows = new RateWindows({ elapsed: () => now });
    const outcomes: (number | null)[] = [];
    for (; now < 2_000; now += 250) outcomes.push(windows.hit('key', 1_000, 2));
    expect(outcomes).toEqual([null, null, 1, 1, null, null, 1, 1]);
  });
});
