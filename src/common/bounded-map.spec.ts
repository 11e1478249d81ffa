import { BoundedMap } from './bounded-map.js';

describe('a bounded map', () => {
  const filled = (...keys: string[]): BoundedMap<string, number | null> => {
    const map = new BoundedMap<string, number | null>(2);
    keys.forEach((key, at) => map.set(key, at));
    return map;
  };
  const held = (map: BoundedMap<string, unknown>, keys: string): string[] =>
    [...keys].filter((key) => map.get(key) !== undefined);

  it('drops what was set longest ago for what is new', () => {
    expect(held(filled('a', 'b', 'c', 'd'), 'abcd')).toEqual(['c', 'd']);
  });

  it('keeps what was read since', () => {
    const map = filled('a', 'b');
    expect(map.get('a')).toBe(0);
    map.set('c', 2);
    expect(held(map, 'abc')).toEqual(['a', 'c']);
  });

  it('counts an entry once, however often it is set', () => {
    const map = filled('a', 'b', 'a', 'a');
    expect([held(map, 'ab'), map.get('a')]).toEqual([['a', 'b'], 3]);
    map.set('c', 4);
    expect(held(map, 'abc')).toEqual(['a', 'c']);
  });

  it('knows nothing from an entry that says null', () => {
    const map = filled();
    map.set('a', null);
    expect([map.get('a'), map.get('b')]).toEqual([null, undefined]);
  });

  it('forgets what it is told to', () => {
    const map = filled('a', 'b');
    map.delete('b');
    map.set('c', 2);
    expect(held(map, 'abc')).toEqual(['a', 'c']);
  });
});
