import { jest } from '@jest/globals';
import { Rounds } from './rounds.js';

describe('the rounds of a folder', () => {
  const faults: unknown[] = [];
  let rounds: Rounds;
  beforeEach(() => {
    jest.useFakeTimers();
    faults.length = 0;
    rounds = new Rounds((error) => faults.push(error));
  });
  afterEach(() => jest.useRealTimers());

  it('combine requests, and keep one that comes during a round', async () => {
    let ran = 0;
    const round = () => {
      ran += 1;
      if (ran === 1) rounds.request(round);
      return Promise.resolve();
    };
    for (let n = 0; n < 100; n += 1) rounds.request(round);
    await jest.advanceTimersByTimeAsync(120);
    expect(ran).toBe(1);
    await jest.advanceTimersByTimeAsync(10_000);
    expect(ran).toBe(2);
  });

  it('pause four times as long as the last one took', async () => {
    const at: number[] = [];
    const slow = async () => {
      at.push(Date.now());
      await new Promise((resolve) => setTimeout(resolve, 500));
      rounds.request(slow);
    };
    rounds.request(slow);
    await jest.advanceTimersByTimeAsync(6_000);
    expect(at.length).toBeGreaterThan(1);
    expect(at[1]! - at[0]!).toBe(2_500);
  });

  it('run one after the other, also after a failed one', async () => {
    const order: string[] = [];
    const first = rounds.enqueue(async () => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      order.push('first');
      throw new Error('no');
    });
    const second = rounds.enqueue(() => Promise.resolve(order.push('second')));
    const failed = expect(first).rejects.toThrow('no');
    await jest.advanceTimersByTimeAsync(100);
    await failed;
    await second;
    expect([order, faults]).toEqual([['first', 'second'], [new Error('no')]]);
  });

  it('do not start once they have ended, without reporting an error', async () => {
    let ran = 0;
    rounds.request(() => Promise.resolve(void (ran += 1)));
    await rounds.end();
    await expect(rounds.enqueue(() => Promise.resolve(void (ran += 1)))).rejects.toThrow('closing');
    await jest.advanceTimersByTimeAsync(1_000);
    expect([ran, faults]).toEqual([0, []]);
  });
});
