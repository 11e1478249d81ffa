import { checked, eq, keyOf } from './values.js';

const REFUSAL = 'A text holds a NUL or a lone surrogate.';

describe('a value in a filter', () => {
  it.each(['text', '$where', '', 0, 1.5, true, null])('stands behind $eq: %j', (value) => {
    expect(eq(value)).toEqual({ $eq: value });
  });

  it('cannot be an object, with operators of its own or without', () => {
    for (const value of [{ $ne: null }, {}, ['a'], new Date()]) {
      expect(() => eq(value as unknown as string)).toThrow(TypeError);
    }
  });
});

describe('a text on its way into the store', () => {
  it.each(['NUL \0', 'lone \ud800'])(
    'is refused wherever it stands if it would not come back: %j',
    (text) => {
      for (const value of [text, [text], { deep: [{ deeper: text }] }]) {
        expect(() => checked(value)).toThrow(REFUSAL);
      }
      expect(() => eq(text)).toThrow(REFUSAL);
      expect(() => keyOf('a', text)).toThrow(REFUSAL);
    },
  );
});

describe('a key of several parts', () => {
  it('is that of no other parts', () => {
    const parts = [['a', 'b'], ['ab'], ['a","b'], ['a', 'b', ''], ['', 'a', 'b'], ['a,b']];
    expect(new Set(parts.map((of) => keyOf(...of))).size).toBe(parts.length);
  });
});
