import { setImmediate } from 'node:timers/promises';
import { inParallel } from './in-parallel.js';

describe('inParallel', () => {
  it('processes all items, never more at once than its concurrency', async () => {
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

  it('pulls the next item only when a worker is free', async () => {
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

  it('starts no item after an error, and waits for running ones', async () => {
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

  it('rejects with an error of the source', async () => {
    async function* source() {
      yield 1;
      throw new Error('dry');
    }
    await expect(inParallel(source(), 2, async () => {})).rejects.toThrow('dry');
  });
});
