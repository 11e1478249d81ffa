import { jest } from '@jest/globals';
import type { PinoLogger } from '../common/pino-logger.js';
import type { PatchStore } from '../storage/ports/patches.store.js';
import { OrphanedBatchSweep } from './orphaned-batch-sweep.js';

const NOW = Date.UTC(2025, 5, 1, 12);

describe('the sweep of batches', () => {
  /** The age limit of each round, ms, and how many more rounds find something to remove. */
  const ages: number[] = [];
  let left = 2;
  const store: Pick<PatchStore, 'removeOrphans'> = {
    removeOrphans: async (before) => (ages.push(NOW - before), (left -= 1) >= 0),
  };

  it('keeps batches whose turn may still be stored, and removes all others', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'performance'] });
    const logger = { setContext: () => undefined } as unknown as PinoLogger;
    const sweep = new OrphanedBatchSweep(store as PatchStore, { now: () => NOW }, logger);
    await sweep.onApplicationBootstrap();
    await jest.advanceTimersByTimeAsync(10 * 60_000);
    jest.useRealTimers();
    while (left >= 0) await new Promise(setImmediate);
    sweep.onModuleDestroy();
    expect(ages).toEqual([3_600_000, 3_600_000, 3_600_000]);
  });
});
