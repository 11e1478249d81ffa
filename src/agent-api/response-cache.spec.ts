import { ResponseCache } from './response-cache.js';

const KIB = 1024;

describe('cached responses', () => {
  let made: string[];
  let texts: ResponseCache<{ body: Buffer }>;
  beforeEach(() => {
    made = [];
    texts = new ResponseCache();
  });
  const ask = (key: string, bytes: number): Promise<{ body: Buffer }> =>
    texts.of(key, async () => {
      await new Promise(setImmediate);
      made.push(key);
      return { body: Buffer.alloc(bytes) };
    });

  it('are built once for concurrent requests, and kept for later ones', async () => {
    const [first, ...others] = await Promise.all(Array.from({ length: 1000 }, () => ask('a', 350 * KIB)));
    expect(others.every((one) => one === first)).toBe(true);
    expect(await ask('a', 350 * KIB)).toBe(first);
    expect(made).toEqual(['a']);
  });

  it('are evicted least recently used first', async () => {
    for (const key of ['a', 'b', 'a', 'c', 'd', 'e']) await ask(key, 4 * KIB * KIB);
    expect(made).toEqual(['a', 'b', 'c', 'd', 'e']);
    await ask('a', 4 * KIB * KIB);
    expect(made.at(-1)).toBe('e');
    await ask('b', 4 * KIB * KIB);
    expect(made.at(-1)).toBe('b');
  });

  it('are built again if they are small or the build failed', async () => {
    await ask('small', KIB);
    await ask('small', KIB);
    expect(made).toEqual(['small', 'small']);
    await expect(texts.of('bad', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await ask('bad', KIB);
    expect(made.at(-1)).toBe('bad');
  });
});
