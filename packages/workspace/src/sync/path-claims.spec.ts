import { PathClaims } from './path-claims.js';

const soon = () => new Promise((resolve) => setImmediate(resolve));

describe('who works on which file', () => {
  let claims: PathClaims;
  beforeEach(() => void (claims = new PathClaims()));

  it('is one at a time', () => {
    expect([claims.tryTake('a'), claims.tryTake('a'), claims.tryTake('b')]).toEqual([true, false, true]);
    claims.free('a');
    expect(claims.tryTake('a')).toBe(true);
  });

  it('has all of the files in hand before it begins, and none of them before', async () => {
    const done: string[] = [];
    claims.tryTake('a');
    const both = claims.holding(['a', 'b'], () => Promise.resolve(done.push('both')));
    await soon();
    // Who waits for one file keeps nobody from the other.
    expect([done, claims.tryTake('b')]).toEqual([[], true]);
    claims.free('a');
    await soon();
    expect(done).toEqual([]);
    claims.free('b');
    await both;
    expect([done, claims.tryTake('a'), claims.tryTake('b')]).toEqual([['both'], true, true]);
  });

  it('is free again where the work has failed', async () => {
    await expect(claims.holding(['a'], () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(claims.tryTake('a')).toBe(true);
  });

  it('gives way in the order in which the others came', async () => {
    const order: number[] = [];
    claims.tryTake('a');
    const waiting = [1, 2, 3].map((n) => claims.holding(['a'], () => Promise.resolve(order.push(n))));
    claims.free('a');
    await Promise.all(waiting);
    expect(order).toEqual([1, 2, 3]);
  });

  it('is nobody’s who has given up waiting for it', async () => {
    const ending = new AbortController();
    claims.tryTake('a');
    const waiting = claims.holding(['a'], () => Promise.resolve(), ending.signal);
    ending.abort(new Error('cancelled'));
    await expect(waiting).rejects.toThrow('cancelled');
    claims.free('a');
    expect(claims.tryTake('a')).toBe(true);
  });
});
