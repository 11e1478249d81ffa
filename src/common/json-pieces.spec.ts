import fc from 'fast-check';
import { isLongerThan, jsonPieces } from './json-pieces.js';

const written = (value: unknown): string => [...jsonPieces(value)].join('');

describe('JSON in pieces', () => {
  it('equals the output of JSON.stringify', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(written(value)).toBe(JSON.stringify(value));
      }),
    );
  });

  it('has no long piece, and keeps pairs and lone surrogates of a long text', () => {
    const text = `${'😀'.repeat(200_000)}\ud800${'"\u0000'.repeat(200_000)}x😀`;
    const value = { text, b: { __proto__: null, c: [text, -0, 1e21] } };
    expect(written(value)).toBe(JSON.stringify(value));
    const longest = Math.max(...[...jsonPieces(value)].map(({ length }) => length));
    expect(longest).toBeLessThan(2 * 1024 * 1024);
  });

  it('is recognized as long by its texts, its names and the number of its values', () => {
    expect(isLongerThan({ a: ['x'.repeat(90)] }, 200)).toBe(false);
    expect(isLongerThan({ a: ['x'.repeat(300)] }, 200)).toBe(true);
    expect(isLongerThan({ ['x'.repeat(300)]: 1 }, 200)).toBe(true);
    expect(
      isLongerThan(
        Array.from({ length: 300 }, () => 0),
        200,
      ),
    ).toBe(true);
    expect(isLongerThan(null, 200)).toBe(false);
  });
});
