import { checked, eq, keyOf } from './values.js';

const REFUSAL = 'A text holds a NUL or a lone surrogate.';

describe('eq', () => {
  it.each(['text', '$where', '', 0, 1.5, true, null])('puts the value behind $eq: %j', (value) => {
    expect(eq(value)).toEqual({ $eq: value });
  });

  it('rejects objects, with or without operators', () => {
    for (const value of [{ $ne: null }, {}, ['a'], new Date()]) {
      expect(() => eq(value as unknown as string)).toThrow(TypeError);
    }
  });
});

describe('checked', () => {
  it.each(['NUL \0', 'lone \ud800'])(
    'rejects texts that would not be returned unchanged, at any depth: %j',
    (text) => {
      for (const value of [text, [text], { deep: [{ deeper: text }] }]) {
        expect(() => checked(value)).toThrow(REFUSAL);
      }
      expect(() => eq(text)).toThrow(REFUSAL);
      expect(() => keyOf('a', text)).toThrow(REFUSAL);
    },
  );
});

describe('keyOf', () => {
  it('is unique for its parts', () => {
    const parts = [['a', 'b'], ['ab'], ['a","b'], ['a', 'b', ''], ['', 'a', 'b'], ['a,b']];
    expect(new Set(parts.map((of) => keyOf(...of))).size).toBe(parts.length);
  });
});
