import { FairQueue, type QueueLimits } from './fair-queue.js';
import type { Reservation } from './reservation.js';

const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

describe('FairQueue', () => {
  let begun: string[];
  let slots: Map<string, Reservation>;
  let refused: string[];
  beforeEach(() => {
    begun = [];
    slots = new Map();
    refused = [];
  });
  const queueOf = (limits: QueueLimits): FairQueue =>
    new FairQueue({ refuse: (excess) => new Error(excess), ...limits });
  /** Items are named by their key and a number: `a0`. */
  function enter(queue: FairQueue, ...items: string[]): void {
    for (const item of items)
      queue.enter(item.slice(0, 1)).then(
        (slot) => {
          begun.push(item);
          slots.set(item, slot);
        },
        ({ message }: Error) => refused.push(`${item}: ${message}`),
      );
  }
  async function end(item: string): Promise<void> {
    slots.get(item)!.release();
    await settled();
  }

  it('serves another key next, however many items one key has waiting', async () => {
    const queue = queueOf({ running: 1 });
    enter(queue, ...Array.from({ length: 1_000 }, (_, at) => `a${at}`), 'b0');
    await settled();
    await end('a0');
    await end('a1');
    expect(begun).toEqual(['a0', 'a1', 'b0']);
  });

  it('serves keys in turn, and each key first in, first out', async () => {
    const queue = queueOf({ running: 1 });
    enter(queue, 'x', 'a0', 'a1', 'a2', 'b0', 'b1', 'c0');
    await settled();
    for (let at = 0; at < 6; at += 1) await end(begun[at]!);
    expect(begun).toEqual(['x', 'a0', 'b0', 'c0', 'a1', 'b1', 'a2']);
  });

  it('reserves the last slot for other keys, and continues with a key when one of its own ends', async () => {
    const queue = queueOf({ running: 2, runningOfKey: 1 });
    enter(queue, 'a0', 'a1', 'b0', 'b1', 'c0');
    await settled();
    expect(begun).toEqual(['a0', 'b0']);
    await end('a0');
    expect(begun).toEqual(['a0', 'b0', 'a1']);
    await end('b0');
    expect(begun).toEqual(['a0', 'b0', 'a1', 'b1']);
    await end('a1');
    expect(begun.at(-1)).toBe('c0');
    const alone = queueOf({ runningOfKey: 1 });
    enter(alone, 'd0', 'd1', 'e0');
    await settled();
    await end('d0');
    expect(begun.slice(-3)).toEqual(['d0', 'e0', 'd1']);
  });

  it('bounds the waiters of one key', async () => {
    const queue = queueOf({ running: 1, waitingOfKey: 2 });
    enter(queue, 'a0', 'a1', 'a2', 'a3', 'b0');
    await settled();
    expect(refused).toEqual(['a3: owner']);
    await end('a0');
    expect(begun).toEqual(['a0', 'a1']);
  });

  it('refuses the last waiter of the longest queue if too many wait, or the newcomer whose own queue is as long', async () => {
    const queue = queueOf({ running: 1, waiting: 4 });
    enter(queue, 'a0', 'a1', 'a2', 'a3', 'a4', 'a5', 'b0', 'b1', 'b2');
    await settled();
    expect(refused).toEqual(['a5: all', 'a4: all', 'a3: all', 'b2: all']);
    for (const item of ['a0', 'a1', 'b0', 'a2']) await end(item);
    expect(begun).toEqual(['a0', 'a1', 'b0', 'a2', 'b1']);
  });

  it('releases a slot once, even if release is called twice', async () => {
    const queue = queueOf({ running: 1 });
    enter(queue, 'a0', 'a1', 'a2');
    await settled();
    await end('a0');
    await end('a0');
    expect(begun).toEqual(['a0', 'a1']);
  });

  it('continues after work that fails', async () => {
    const queue = queueOf({ running: 1 });
    await expect(queue.run('a', () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    expect(await queue.run('a', () => Promise.resolve('done'))).toBe('done');
  });

  it('refuses all waiters when it is cleared, and lets running work finish', async () => {
    const queue = queueOf({ running: 1 });
    enter(queue, 'a0', 'a1', 'b0');
    await settled();
    queue.clear(new Error('stopping'));
    await settled();
    expect(refused).toEqual(['a1: stopping', 'b0: stopping']);
    await end('a0');
    enter(queue, 'c0');
    await settled();
    expect(begun).toEqual(['a0', 'c0']);
  });
});
