import { timeSlice } from './time-slice.js';

/** Holds the event loop for so many ms. */
function work(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

describe('a time slice', () => {
  it('is one for all long work: others have their turn however many go on at once', async () => {
    let steps = 0;
    const long = async (): Promise<void> => {
      for (let step = 0; step < 5; step += 1) {
        await timeSlice();
        work(6);
        steps += 1;
      }
    };
    const all = Promise.all(Array.from({ length: 10 }, long));
    const inTurns: number[] = [];
    while (steps < 50) {
      const before = steps;
      await new Promise(setImmediate);
      inTurns.push(steps - before);
    }
    await all;
    // Two steps are more than a slice; one more may have begun before it was over.
    expect(Math.max(...inTurns)).toBeLessThanOrEqual(4);
  });
});
