import { setImmediate } from 'node:timers/promises';
import { inParallel } from './in-parallel.js';

describe('inParallel', () => {
  it('works on every item, never on more at once than it has hands', async () => {
    const done: number[] = [];
    let [now, most] = [0, 0];
    await inParallel([1, 2, 3, 4, 5, 6, 7], 3, async (item) => {
      most = Math.max(most, ++now);
      await setImmediate();
      now -= 1;
      done.push(item);
    });
    expect(done.sort()).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(most).toBe(3);
  });

  it('takes the next item only when a hand is free', async () => {
    let made = 0;
    async function* source() {
      for (; made < 100; made += 1) yield made;
    }
    await inParallel(source(), 2, async (item) => {
      await setImmediate();
      expect(made).toBeLessThanOrEqual(item + 2);
    });
    expect(made).toBe(100);
  });

  it('begins nothing more after a fault, and waits for what is under way', async () => {
    const [begun, finished]: [number[], number[]] = [[], []];
    const working = inParallel([1, 2, 3, 4, 5], 2, async (item) => {
      begun.push(item);
      if (item === 1) throw new Error('no');
      await setImmediate();
      finished.push(item);
    });
    await expect(working).rejects.toThrow('no');
    expect([begun, finished]).toEqual([[1, 2], [2]]);
  });

  it('passes on a fault of the source', async () => {
    async function* source() {
      yield 1;
      throw new Error('dry');
    }
    await expect(inParallel(source(), 2, async () => {})).rejects.toThrow('dry');
  });
});
