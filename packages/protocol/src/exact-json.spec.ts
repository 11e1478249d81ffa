import fc from 'fast-check';
import { lossyNumberIn, parseExactJson } from './exact-json.js';

/** A number that the JSON text has and the value has not, as it was written. */
function lossIn(text: string): string | null {
  return (
    lossyNumberIn({ value: parseExactJson(text) }, 'value') ??
    lossyNumberIn(parseExactJson(`[${text}]`) as object, '0')
  );
}

describe('parseExactJson', () => {
  it('reads what JSON.parse reads, and finds no loss in what a double can say', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const text = JSON.stringify(value);
        expect(parseExactJson(text)).toEqual(JSON.parse(text));
      }),
    );
    fc.assert(
      fc.property(fc.double({ noDefaultInfinity: true, noNaN: true }), (value) => {
        const integer = Number.isInteger(value) && Math.abs(value) > 2 ** 53 && !String(value).includes('e');
        expect(lossIn(String(value))).toBe(integer ? String(value) : null);
      }),
    );
  });

  it('refuses what JSON.parse refuses', () => {
    const pieces = [
      '1e400',
      '12345678901234567890',
      '"',
      '{',
      '}',
      '[',
      ']',
      ':',
      ',',
      '-',
      '.',
      '0',
      'a',
      ' ',
      '\\',
    ];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 8 }), (parts) => {
        const text = parts.join('');
        const outcome = (parse: (text: string) => unknown): unknown => {
          try {
            return parse(text);
          } catch {
            return 'refused';
          }
        };
        expect(outcome(parseExactJson)).toEqual(outcome(JSON.parse));
      }),
      { numRuns: 2000 },
    );
  });

  it('finds a loss wherever it is, beside sound numbers and texts that look like one', () => {
    const found = parseExactJson('{"a":"1e400","b":[1,{"c":9007199254740993}],"d":1e400}') as object;
    expect(found).toEqual({ a: '1e400', b: [1, { c: 9007199254740992 }], d: Infinity });
    expect(lossyNumberIn(found, 'a')).toBeNull();
    expect(lossyNumberIn(found, 'b')).toBe('9007199254740993');
    expect(lossyNumberIn(found, 'd')).toBe('1e400');
  });

  it('tells 2^53 from 2^53 + 1', () => {
    expect(lossIn('9007199254740992')).toBeNull();
    expect(lossIn('9007199254740993')).toBe('9007199254740993');
  });

  it('gives up on a text that is full of numbers that no double can say', () => {
    const numbers = (count: number) => `[${'1e400,'.repeat(count)}0]`;
    expect(parseExactJson(numbers(1_000))).toHaveLength(1_001);
    expect(() => parseExactJson(numbers(1_000_000))).toThrow('cannot keep exactly');
  });

  it('takes linear time on numbers of millions of digits', () => {
    // By the square of their length it would take hours, of which nobody sees the end.
    const texts = [
      ...[`1.${'0'.repeat(4e6)}1`, '9'.repeat(4e6), `0.${'0'.repeat(4e6)}`],
      `[${'1e400,'.repeat(9e3)}1]`,
    ];
    expect(texts.map((text) => parseExactJson(text))).toHaveLength(texts.length);
  });
});
