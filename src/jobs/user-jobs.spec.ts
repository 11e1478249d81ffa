import { Config } from '../config/config.js';
import { UserLines } from './user-jobs.js';

describe('the line of a user', () => {
  const linesOf = (maxUserWaitingJobs: number) => new UserLines(Config.with({ maxUserWaitingJobs }));

  it('has one thing worked on at a time, first come first served, and others none the later', async () => {
    const lines = linesOf(10);
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const work = (name: string) => () => {
      begun.push(name);
      return new Promise<void>((resolve) => ends.push(resolve));
    };
    const all = ['a', 'b'].map((name) => lines.stand('greedy', work(name)));
    all.push(lines.stand('modest', work('c')), lines.stand('greedy', work('d'), 'searches'));
    await new Promise(setImmediate);
    expect(begun).toEqual(['a', 'c', 'd']);
    ends.shift()!();
    await all[0];
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(begun).toEqual(['a', 'c', 'd', 'b']);
    for (const end of ends) end();
    await Promise.all(all);
  });

  it('goes on after work that fails, and forgets who has nothing more', async () => {
    const lines = linesOf(10);
    const failing = lines.stand('u', () => Promise.reject(new Error('broken')));
    const next = lines.stand('u', () => Promise.resolve('done'));
    await expect(failing).rejects.toThrow('broken');
    expect(await next).toBe('done');
    expect(await lines.stand('u', () => Promise.resolve('again'))).toBe('again');
  });

  it('is refused to who has too much in it', async () => {
    const lines = linesOf(1);
    const two = [1, 2].map((n) => lines.stand('u', () => Promise.resolve(n)));
    await expect(lines.stand('u', () => Promise.resolve(3))).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    expect(await Promise.all(two)).toEqual([1, 2]);
  });
});
