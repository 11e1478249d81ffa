import { Logger } from '@nestjs/common';
import { fileURLToPath } from 'node:url';
import { Config, type Settings } from '../../src/config/config.js';
import { defineJob, type Job } from '../../src/jobs/job.js';
import { WorkPool } from '../../src/jobs/work-pool.js';
import { sourcesIn } from '../support/sources.js';

/** The pool of the server, with the jobs of `test/support/work-jobs.mjs` on its workers. */
class TestPool extends WorkPool {
  protected override readonly workerFile = fileURLToPath(
    new URL('../support/work-jobs.mjs', import.meta.url),
  );
}

const jobOf = <Input, Output>(name: string): Job<Input, Output> =>
  defineJob<Input, Output>(
    name,
    () => {
      throw new Error('this job belongs on a worker');
    },
    0,
  );
const DOUBLE = jobOf<number, number>('double');
const SPIN = jobOf<number, string>('spin');
const LOAD = { bytes: 1 };

describe('the worker pool', () => {
  const pools: WorkPool[] = [];
  const poolWith = (settings: Partial<Settings> = {}): WorkPool => {
    const pool = new TestPool(Config.with({ jobMs: 20_000, ...settings }));
    pools.push(pool);
    return pool;
  };
  const close = async (pool: WorkPool): Promise<void> => {
    pool.onModuleDestroy();
    await pool.onApplicationShutdown();
  };

  beforeAll(() => {
    Logger.overrideLogger(false);
  });

  afterEach(async () => {
    await Promise.all(pools.splice(0).map(close));
  });

  it('runs small jobs on the caller’s thread and starts no worker for them', async () => {
    const pool = poolWith();
    const job = defineJob('double', (value: number) => value + value, 10);
    await expect(pool.run('user', job, 21, { bytes: 10 })).resolves.toBe(42);
    expect(Reflect.get(pool, 'workers')).toBeNull();
    await expect(pool.run('user', job, 4, { bytes: 11 })).resolves.toBe(8);
    expect(Reflect.get(pool, 'workers')).not.toBeNull();
  });

  it('moves the buffers that it is given instead of copying them', async () => {
    const { buffer } = new Uint8Array(100_000);
    const run = poolWith().run('user', jobOf('bytes'), buffer, { bytes: 100_000, transfer: [buffer] });
    await expect(run).resolves.toBe(100_000);
    expect(buffer.byteLength).toBe(0);
  });

  it('does not delay a user by the 1,000 jobs of another', async () => {
    const pool = poolWith();
    const greedy = Array.from({ length: 1_000 }, () => pool.run('greedy', SPIN, 20, LOAD));
    let done = 0;
    for (const job of greedy) void job.then(() => (done += 1)).catch(() => {});
    await pool.run('modest', DOUBLE, 1, LOAD);
    for (let call = 0; call < 10; call += 1) await pool.run('modest', DOUBLE, call, LOAD);
    expect(done).toBeLessThan(500);
    await close(pool);
  });

  it('limits waiting jobs, of a user and in total, with a time to retry', async () => {
    const refusalsOf = async (pool: WorkPool, users: string[]): Promise<unknown[]> => {
      const outcomes = await Promise.allSettled(users.map((user) => pool.run(user, SPIN, 300, LOAD)));
      return outcomes.flatMap((outcome) =>
        outcome.status === 'rejected' ? [outcome.reason as unknown] : [],
      );
    };
    const refusal = (message: string): unknown =>
      expect.objectContaining({
        code: 'RATE_LIMITED',
        message: expect.stringContaining(message) as unknown,
        extras: { retryAfterSeconds: expect.any(Number) as unknown },
      });
    const bounds = { workers: 2, maxUserWaitingJobs: 2, maxWaitingJobs: 3 };
    const ofUser = await refusalsOf(poolWith(bounds), ['a', 'a', 'a', 'a']);
    expect(ofUser).toEqual([refusal('Too much of your work')]);
    const ofAll = await refusalsOf(poolWith(bounds), ['a', 'b', 'a', 'b', 'c', 'd']);
    expect(ofAll).toEqual([refusal('server has')]);
  });

  it('rejects a job that is larger than the limit before it runs', async () => {
    const run = poolWith({ maxWorkBytes: 2_000_000 }).run('user', DOUBLE, 1, { bytes: 1_000_001 });
    await expect(run).rejects.toMatchObject({ code: 'TOO_LARGE' });
  });

  it('stops a job that exceeds its time, and runs the next', async () => {
    const pool = poolWith({ jobMs: 1_000, workers: 1 });
    await expect(pool.run('user', SPIN, 3_600_000, LOAD)).rejects.toMatchObject({
      code: 'TOO_LARGE',
      message: 'This request takes more than 1000 ms; ask for less at once',
    });
    await expect(pool.run('user', DOUBLE, 21, LOAD)).resolves.toBe(42);
  });

  it('fails the job of a worker that dies, and no other', async () => {
    const pool = poolWith();
    const [died, lived] = await Promise.allSettled([
      pool.run('a', jobOf('die'), null, LOAD),
      pool.run('b', SPIN, 300, LOAD),
    ]);
    expect(died).toMatchObject({ status: 'rejected', reason: { code: 'INTERNAL_ERROR' } });
    expect(lived).toMatchObject({ status: 'fulfilled', value: 'spun' });
    await expect(pool.run('a', DOUBLE, 2, LOAD)).resolves.toBe(4);
  });

  it('survives a job that uses all memory of its worker', async () => {
    const pool = poolWith({ workerMemoryMb: 64 });
    await expect(pool.run('a', jobOf('eat'), null, LOAD)).rejects.toMatchObject({
      code: 'TOO_LARGE',
      message: 'This request takes more than 64 MiB of memory; ask for less at once',
    });
    await expect(pool.run('a', DOUBLE, 2, LOAD)).resolves.toBe(4);
  });

  it('passes on the rejection of a job, and no details of an unexpected error', async () => {
    const pool = poolWith();
    await expect(pool.run('a', jobOf('refuse'), null, LOAD)).rejects.toMatchObject({
      code: 'STALE',
      message: 'it has moved on',
      extras: { details: { currentSha256: 'abc' } },
    });
    const broken = pool.run('a', jobOf('break'), null, LOAD);
    await expect(broken).rejects.toMatchObject({
      code: 'INTERNAL_ERROR',
      message: expect.not.stringContaining('secret') as unknown,
    });
  });

  it('gives no environment variables to a job', async () => {
    await expect(poolWith().run('a', jobOf('where'), null, LOAD)).resolves.toEqual([]);
  });

  it('stops waiting and running jobs when the server stops', async () => {
    const pool = poolWith();
    const runs = Array.from({ length: 5 }, () => pool.run('a', SPIN, 3_600_000, LOAD));
    const settled = Promise.allSettled(runs);
    await close(pool);
    const codes = (await settled).map((outcome) => (outcome as { reason: { code: string } }).reason.code);
    expect(codes).toEqual(Array(5).fill('UNAVAILABLE'));
    await expect(pool.run('a', DOUBLE, 1, LOAD)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });
});

describe('the jobs of the server', () => {
  it('are all known to its workers', () => {
    const jobs = sourcesIn('src').filter(
      ({ path, text }) => /\bdefineJob\(/.test(text) && path !== 'src/jobs/job.ts',
    );
    const known = sourcesIn('src').find(({ path }) => path === 'src/worker.ts')!;
    expect(jobs.map(({ path }) => path).filter((path) => !known.imports.includes(path))).toEqual([]);
  });
});
