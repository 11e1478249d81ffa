import { RateWindows } from './rate-windows.js';

describe('a rate window', () => {
  it('ends at its time, even for a key that never stops trying', () => {
    let now = 0;
    const windows = new RateWindows({ elapsed: () => now });
    const outcomes: (number | null)[] = [];
    for (; now < 2_000; now += 250) outcomes.push(windows.hit('key', 1_000, 2));
    expect(outcomes).toEqual([null, null, 1, 1, null, null, 1, 1]);
  });

  it('drops the least recently hit key for a new one beyond 200,000', () => {
    const windows = new RateWindows({ elapsed: () => 0 });
    for (const key of ['kept', 'forgotten', 'kept']) windows.hit(key, 1_000, 1);
    for (let at = 0; at < 199_999; at += 1) windows.hit(`other ${at}`, 1_000, 1);
    expect([windows.hits('kept'), windows.hits('forgotten')]).toEqual([2, 0]);
  });
});
