import { jest } from '@jest/globals';
import type { PinoLogger } from '../common/pino-logger.js';
import type { BlobStore } from '../storage/ports/blobs.store.js';
import { BlobSweep } from './blob-sweep.js';

const HOUR = 3_600_000;
const NOW = Date.UTC(2025, 5, 1, 12);

describe('the sweep of blobs', () => {
  const log: [string, number][] = [];
  /** How many more rounds find something to mark and to remove. */
  const left = { mark: 2, removeMarked: 1 };
  const store: Pick<BlobStore, 'mark' | 'removeMarked'> = {
    mark: async (before, _limit, now) => (log.push(['mark', before - now]), (left.mark -= 1) >= 0),
    removeMarked: async (before) => (log.push(['remove', before - NOW]), (left.removeMarked -= 1) >= 0),
  };

  it('removes blobs marked an hour ago, then marks those unused for a day, until none is left', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'performance'] });
    const logger = { setContext: () => undefined } as unknown as PinoLogger;
    const sweep = new BlobSweep(store as BlobStore, { now: () => NOW }, logger);
    await sweep.onApplicationBootstrap();
    await jest.advanceTimersByTimeAsync(10 * 60_000);
    jest.useRealTimers();
    while (left.mark >= 0) await new Promise(setImmediate);
    sweep.onModuleDestroy();
    expect(log).toEqual([
      ...[
        ['remove', -HOUR],
        ['remove', -HOUR],
      ],
      ...[
        ['mark', -24 * HOUR],
        ['mark', -24 * HOUR],
        ['mark', -24 * HOUR],
      ],
    ]);
  });
});
