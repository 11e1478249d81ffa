import { FairQueue, type QueueBounds } from './fair-queue.js';

const BOUNDS: QueueBounds = {
  ...{ running: 2, runningOfOwner: 1 },
  ...{ waiting: 20_000, waitingOfOwner: 1_000, bytes: 100_000, smallBytes: 0 },
};

const queueOf = (bounds: Partial<QueueBounds> = {}): FairQueue<string> =>
  new FairQueue({ ...BOUNDS, ...bounds });
const push = (queue: FairQueue<string>, owner: string, item: string, bytes = 1) =>
  queue.push({ owner, bytes, item });

describe('a fair queue', () => {
  it('serves another owner next, however much one has waiting', () => {
    const queue = queueOf();
    for (let index = 0; index < 1_000; index += 1) push(queue, 'greedy', `g${index}`);
    const running = queue.take()!;
    push(queue, 'modest', 'm0');
    expect(queue.take()?.item).toBe('m0');
    queue.done(running);
    expect(queue.take()?.item).toBe('g1');
  });

  it('leaves the last place to others', () => {
    const queue = queueOf();
    push(queue, 'greedy', 'g0');
    push(queue, 'greedy', 'g1');
    expect(queue.take()?.item).toBe('g0');
    expect(queue.take()).toBeUndefined();
    push(queue, 'modest', 'm0');
    expect(queue.take()?.item).toBe('m0');
  });

  it('takes owners in turn, and each of them first in, first out', () => {
    const queue = queueOf({ running: 1 });
    for (const item of ['a0', 'a1', 'a2', 'b0', 'b1', 'c0']) push(queue, item.charAt(0), item);
    const order: string[] = [];
    for (let next = queue.take(); next; next = queue.take()) {
      order.push(next.item);
      queue.done(next);
    }
    expect(order).toEqual(['a0', 'b0', 'c0', 'a1', 'b1', 'a2']);
  });

  it('says whose bound is full, of items and of bytes', () => {
    const counted = queueOf({ waiting: 16, waitingOfOwner: 2 });
    expect(['a', 'a', 'a', 'b', 'b'].map((owner) => push(counted, owner, owner))).toEqual([
      ...[null, null, 'owner', null, 'all'],
    ]);
    const weighed = queueOf({ bytes: 800 });
    expect([push(weighed, 'a', 'a', 60), push(weighed, 'a', 'a', 60), push(weighed, 'b', 'b', 101)]).toEqual([
      ...[null, 'owner', 'owner'],
    ]);
    expect([push(weighed, 'b', 'b', 92), push(weighed, 'c', 'c', 80)]).toEqual([null, null]);
    expect(push(weighed, 'd', 'd', 75)).toBe('all');
  });

  it('holds what runs against the bytes until it has ended', () => {
    const queue = queueOf({ bytes: 480 });
    push(queue, 'a', 'a0', 60);
    const running = queue.take()!;
    expect(push(queue, 'a', 'a1', 1)).toBe('owner');
    queue.done(running);
    expect(push(queue, 'a', 'a1', 60)).toBeNull();
  });

  it('gives all that waits back when it is cleared', () => {
    const queue = queueOf({ bytes: 8 });
    push(queue, 'a', 'a0');
    push(queue, 'b', 'b0', 0);
    expect(queue.clear().map(({ item }) => item)).toEqual(['a0', 'b0']);
    expect(queue.take()).toBeUndefined();
    expect(push(queue, 'a', 'a1', 2)).toBeNull();
  });
});
