import { Config } from '../config/config.js';
import { UserJobs } from './user-jobs.js';

describe('UserJobs', () => {
  const jobsOf = (maxUserWaitingJobs: number) => new UserJobs(Config.with({ maxUserWaitingJobs }));

  it('runs one job of a kind per user at a time, first in first out, without delaying other users', async () => {
    const jobs = jobsOf(10);
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const work = (name: string) => () => {
      begun.push(name);
      return new Promise<void>((resolve) => ends.push(resolve));
    };
    const all = ['a', 'b'].map((name) => jobs.run('greedy', work(name)));
    all.push(jobs.run('modest', work('c')), jobs.run('greedy', work('d'), 'searches'));
    await new Promise(setImmediate);
    expect(begun).toEqual(['a', 'c', 'd']);
    ends.shift()!();
    await all[0];
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(begun).toEqual(['a', 'c', 'd', 'b']);
    for (const end of ends) end();
    await Promise.all(all);
  });

  it('continues after a job that fails', async () => {
    const jobs = jobsOf(10);
    const failing = jobs.run('u', () => Promise.reject(new Error('broken')));
    const next = jobs.run('u', () => Promise.resolve('done'));
    await expect(failing).rejects.toThrow('broken');
    expect(await next).toBe('done');
    expect(await jobs.run('u', () => Promise.resolve('again'))).toBe('again');
  });

  it('refuses jobs if too many are queued', async () => {
    const jobs = jobsOf(1);
    const two = [1, 2].map((n) => jobs.run('u', () => Promise.resolve(n)));
    await expect(jobs.run('u', () => Promise.resolve(3))).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    expect(await Promise.all(two)).toEqual([1, 2]);
  });
});
