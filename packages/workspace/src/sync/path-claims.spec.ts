import { PathClaims } from './path-claims.js';

const soon = () => new Promise((resolve) => setImmediate(resolve));

describe('a claim of a file', () => {
  let claims: PathClaims;
  beforeEach(() => void (claims = new PathClaims()));

  it('is exclusive', () => {
    expect([claims.tryClaim('a'), claims.tryClaim('a'), claims.tryClaim('b')]).toEqual([true, false, true]);
    claims.release('a');
    expect(claims.tryClaim('a')).toBe(true);
  });

  it('of several files is taken once all are free, and blocks none before', async () => {
    const done: string[] = [];
    claims.tryClaim('a');
    const both = claims.withClaims(['a', 'b'], () => Promise.resolve(done.push('both')));
    await soon();
    // Waiting for one file does not block the other.
    expect([done, claims.tryClaim('b')]).toEqual([[], true]);
    claims.release('a');
    await soon();
    expect(done).toEqual([]);
    claims.release('b');
    await both;
    expect([done, claims.tryClaim('a'), claims.tryClaim('b')]).toEqual([['both'], true, true]);
  });

  it('is released if the work fails', async () => {
    await expect(claims.withClaims(['a'], () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(claims.tryClaim('a')).toBe(true);
  });

  it('is granted in the order of requests', async () => {
    const order: number[] = [];
    claims.tryClaim('a');
    const waiting = [1, 2, 3].map((n) => claims.withClaims(['a'], () => Promise.resolve(order.push(n))));
    claims.release('a');
    await Promise.all(waiting);
    expect(order).toEqual([1, 2, 3]);
  });

  it('is not granted to an aborted request', async () => {
    const ending = new AbortController();
    claims.tryClaim('a');
    const waiting = claims.withClaims(['a'], () => Promise.resolve(), ending.signal);
    ending.abort(new Error('cancelled'));
    await expect(waiting).rejects.toThrow('cancelled');
    claims.release('a');
    expect(claims.tryClaim('a')).toBe(true);
  });
});
