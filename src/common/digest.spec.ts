import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { digestOf } from './digest.js';
import { digestInSlices } from './digest-in-slices.js';

/** The value with the keys of every object in reverse order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).reverse();
  return Object.fromEntries(entries.map(([key, item]) => [key, reversed(item)]));
}

describe('digestOf', () => {
  it('does not depend on the order of keys, at any depth', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => digestOf(value) === digestOf(reversed(value))));
  });

  it('is equal for values with equal JSON, and for no others', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 2 }), fc.jsonValue({ maxDepth: 2 }), (a, b) => {
        const canonical = (value: unknown): string => JSON.stringify(value, sortKeys);
        expect(digestOf(a) === digestOf(b)).toBe(canonical(a) === canonical(b));
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    [[], {}],
    [[1, 2], [12]],
    [['a', 'b'], ['a,b']],
    [
      { a: 1, b: 2 },
      { a: '1', b: 2 },
    ],
    [{ a: null }, {}],
    [{ a: {} }, { a: [] }],
    [
      [[1], 2],
      [1, [2]],
    ],
    ['\ud800', '\ufffd'],
    [null, 'null'],
  ])('distinguishes %j from %j', (a, b) => {
    expect(digestOf(a)).not.toBe(digestOf(b));
  });

  it('ignores undefined properties', () => {
    expect(digestOf({ a: 1, b: undefined })).toBe(digestOf({ a: 1 }));
  });

  it('treats __proto__ as an ordinary key', () => {
    expect(digestOf(JSON.parse('{"__proto__":1}'))).not.toBe(digestOf({}));
  });

  it('is the same in slices, wherever a long string is cut', async () => {
    const pairs = '\u{1f600}'.repeat(200_000);
    for (const text of [pairs, `a${pairs}`, `${'\ud83d'.repeat(400_000)}\ude00`, '\u0000"'.repeat(200_000)]) {
      const spelled = createHash('sha256')
        .update(`{"t":[${JSON.stringify(text)},],}`)
        .digest('hex');
      expect(digestOf({ t: [text] })).toBe(spelled);
      expect((await digestInSlices({ t: [text] })).digest).toBe(spelled);
    }
  });

  it('yields to other work during a large value', async () => {
    let turns = 0;
    const counting = setInterval(() => (turns += 1), 0);
    await digestInSlices(Array.from({ length: 200_000 }, (_, at) => ({ at, text: 'x'.repeat(100) })));
    clearInterval(counting);
    expect(turns).toBeGreaterThan(0);
  });
});

function sortKeys(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
