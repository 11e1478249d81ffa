import { compare } from './compare.js';

describe('compare', () => {
  it.each([
    ['a', 'a', 'a', 'same'],
    [null, null, null, 'same'],
    ['b', 'a', 'b', 'same'],
    ['a', null, 'a', 'same'],
    [null, 'a', null, 'same'],
    ['b', 'a', 'a', 'changedLocally'],
    ['a', null, null, 'changedLocally'],
    [null, 'a', 'a', 'changedLocally'],
    ['a', 'a', 'b', 'changedInCloud'],
    [null, null, 'a', 'changedInCloud'],
    ['a', 'a', null, 'changedInCloud'],
    ['b', 'a', 'c', 'changedOnBoth'],
    ['a', null, 'b', 'changedOnBoth'],
    [null, 'a', 'b', 'changedOnBoth'],
    ['b', 'a', null, 'changedOnBoth'],
  ])('of local %p, base %p and remote %p is %s', (local, base, remote, verdict) => {
    expect(compare({ local, base, remote })).toBe(verdict);
  });

  it('is symmetric in both sides', () => {
    const mirrored = { changedLocally: 'changedInCloud', changedInCloud: 'changedLocally' } as Record<
      string,
      string
    >;
    const values = [null, 'a', 'b', 'c'];
    for (const local of values) {
      for (const base of values) {
        for (const remote of values) {
          const verdict = compare({ local, base, remote });
          expect(compare({ local: remote, base, remote: local })).toBe(mirrored[verdict] ?? verdict);
        }
      }
    }
  });
});
