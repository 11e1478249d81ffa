import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { digestOf } from './digest.js';
import { digestInSlices } from './digest-in-slices.js';

/** The value with the keys of every object the other way round. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).reverse();
  return Object.fromEntries(entries.map(([key, item]) => [key, reversed(item)]));
}

describe('the digest of a value', () => {
  it('does not depend on the order of keys, at any depth', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => digestOf(value) === digestOf(reversed(value))));
  });

  it('is the same for what reads as the same JSON, and for nothing else', () => {
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
  ])('tells %j from %j', (a, b) => {
    expect(digestOf(a)).not.toBe(digestOf(b));
  });

  it('leaves out what is undefined', () => {
    expect(digestOf({ a: 1, b: undefined })).toBe(digestOf({ a: 1 }));
  });

  it('takes __proto__ for a key like any other', () => {
    expect(digestOf(JSON.parse('{"__proto__":1}'))).not.toBe(digestOf({}));
  });

  it('is the same in slices, and of a long string whatever stands where it is cut', async () => {
    const pairs = '\u{1f600}'.repeat(200_000);
    for (const text of [pairs, `a${pairs}`, `${'\ud83d'.repeat(400_000)}\ude00`, '\u0000"'.repeat(200_000)]) {
      const spelled = createHash('sha256')
        .update(`{"t":[${JSON.stringify(text)},],}`)
        .digest('hex');
      expect(digestOf({ t: [text] })).toBe(spelled);
      expect((await digestInSlices({ t: [text] })).digest).toBe(spelled);
    }
  });

  it('of a large value lets others have their turn', async () => {
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
