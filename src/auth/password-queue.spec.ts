import { Config } from '../config/config.js';
import { PasswordQueue } from './password-queue.js';

describe('password checks', () => {
  let running: number;
  let most: number;
  beforeEach(() => {
    running = 0;
    most = 0;
  });

  async function work(): Promise<void> {
    running += 1;
    most = Math.max(most, running);
    await new Promise(setImmediate);
    running -= 1;
  }
  const codes = (outcomes: PromiseSettledResult<unknown>[]): unknown[] =>
    outcomes.flatMap((outcome) =>
      outcome.status === 'rejected' ? [(outcome.reason as { code: string }).code] : [],
    );

  it('use few cores in parallel, and all complete [REQ-25]', async () => {
    const queue = new PasswordQueue(Config.with({}));
    await Promise.all(Array.from({ length: 40 }, (_, at) => queue.run(`address ${at}`, work)));
    expect(most).toBeGreaterThanOrEqual(1);
    expect(most).toBeLessThanOrEqual(
      Math.max(1, Math.floor((await import('node:os')).availableParallelism() / 2)),
    );
  });

  it('of one address are limited, and alternate with those of others [REQ-25]', async () => {
    const queue = new PasswordQueue(Config.with({}));
    const ended: string[] = [];
    const run = (address: string) => queue.run(address, work).then(() => ended.push(address));
    const many = Promise.allSettled(Array.from({ length: 100 }, () => run('many')));
    await run('one');
    expect(ended.length).toBeLessThan(10);
    const refused = codes(await many);
    expect(new Set(refused)).toEqual(new Set(['RATE_LIMITED']));
    expect(refused.length).toBeGreaterThan(40);
  });

  it('are limited in total [REQ-25]', async () => {
    const queue = new PasswordQueue(Config.with({ rateLimit: null }));
    const refused = codes(
      await Promise.allSettled(Array.from({ length: 400 }, () => queue.run('many', work))),
    );
    expect(new Set(refused)).toEqual(new Set(['UNAVAILABLE']));
    expect(refused.length).toBeGreaterThan(150);
  });

  it('of a new address get a slot when few addresses fill the queue [REQ-25]', async () => {
    const queue = new PasswordQueue(Config.with({}));
    const many = Array.from({ length: 5 * 50 }, (_, at) => queue.run(`address ${at % 5}`, work));
    const outcomes = Promise.allSettled(many);
    await queue.run('newcomer', work);
    expect(new Set(codes(await outcomes))).toEqual(new Set(['UNAVAILABLE']));
  });

  it('that fail free their slot', async () => {
    const queue = new PasswordQueue(Config.with({}));
    const failing = Array.from({ length: 10 }, () => queue.run('a', () => Promise.reject(new Error('no'))));
    await Promise.allSettled(failing);
    await expect(queue.run('a', () => Promise.resolve(1))).resolves.toBe(1);
  });
});
