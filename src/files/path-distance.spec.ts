import { editDistance } from '../config/edit-distance.js';
import { closestName, commonTail } from './path-distance.js';

describe('the distance of two names', () => {
  it.each([
    ['price.ts', 'price.ts', 0],
    ['price.ts', 'prices.ts', 1],
    ['src', 'scr', 1],
    ['pirce.ts', 'price.ts', 1],
    ['abc', 'xbz', 2],
    ['', 'ab', 2],
    ['abcd', 'wxyz', null],
    ['a', 'abcde', null],
  ])('of %j and %j is %j', (a, b, distance) => {
    expect(editDistance(a, b, 3)).toBe(distance);
    expect(editDistance(b, a, 3)).toBe(distance);
  });

  it('has no value beyond the limit, however long the names are', () => {
    expect(editDistance('a'.repeat(255), 'b'.repeat(255), 3)).toBeNull();
    expect(editDistance('a'.repeat(300), 'a'.repeat(300), 3)).toBeNull();
    expect(editDistance('abc', 'abd', 0)).toBeNull();
  });
});

describe('the closest name', () => {
  const of = (...names: string[]) => names.map((name) => ({ docPath: `proj/${name}` }));

  it('is the entry with the smallest distance, the first of equals', () => {
    expect(closestName('price.ts', of('prize.tx', 'prize.ts', 'pricey.ts'))?.docPath).toBe('proj/prize.ts');
  });

  it('is null if all names differ too much', () => {
    expect(closestName('a.ts', of('b.js', 'readme.md'))).toBeNull();
    expect(closestName('x', [])).toBeNull();
  });
});

describe('a common tail', () => {
  it('counts whole names from the end', () => {
    expect(commonTail('proj/src/x.ts', ['other', 'src', 'x.ts'])).toBe(2);
    expect(commonTail('x.ts', ['src', 'x.ts'])).toBe(1);
    expect(commonTail('src/ax.ts', ['src', 'x.ts'])).toBe(0);
  });
});
