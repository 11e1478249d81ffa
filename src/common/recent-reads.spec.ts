import { RecentReads } from './recent-reads.js';

describe('recent reads', () => {
  let now = 0;
  let pending: { resolve: (value: number) => void; reject: (error: Error) => void }[] = [];
  const read = (): Promise<number> =>
    new Promise((resolve, reject) => void pending.push({ resolve, reject }));
  const newReads = (): RecentReads<number> => {
    [now, pending] = [0, []];
    return new RecentReads(
      read,
      (key) => key,
      () => now,
    );
  };

  it('share one query per key among concurrent reads, and read again once the value is 4 s old', async () => {
    const reads = newReads();
    const answers = [reads.get('a'), reads.get('a'), reads.get('b')];
    expect(pending).toHaveLength(2);
    now = 3_000;
    for (const [at, { resolve }] of pending.entries()) resolve(at);
    expect(await Promise.all(answers)).toEqual([0, 0, 1]);
    now = 3_999;
    expect(await reads.get('a')).toBe(0);
    expect(reads.known('a')).toBe(0);
    now = 4_000;
    expect(reads.known('a')).toBeUndefined();
    const later = reads.get('a');
    pending[2]!.resolve(7);
    expect(await later).toBe(7);
  });

  it('do not return a value that was dropped while it was read', async () => {
    const reads = newReads();
    const answer = reads.get('a');
    reads.drop('a');
    pending[0]!.resolve(1);
    await new Promise(setImmediate);
    expect(pending).toHaveLength(2);
    pending[1]!.resolve(2);
    expect(await answer).toBe(2);
    expect(await reads.get('a')).toBe(2);
  });

  it('cache no failure, and no value beyond its time after a failed read', async () => {
    const reads = newReads();
    const first = reads.get('a');
    pending[0]!.resolve(1);
    await first;
    now = 4_000;
    const failing = reads.get('a');
    pending[1]!.reject(new Error('no store'));
    await expect(failing).rejects.toThrow('no store');
    expect(reads.known('a')).toBeUndefined();
    const next = reads.get('a');
    pending[2]!.resolve(3);
    expect(await next).toBe(3);
  });
});
