import fc from 'fast-check';
import { lossIn, parseExactJson, repeatedNames } from './exact-json.js';

/** The number that is in the JSON text but not in the parsed value, as written. */
function lostNumber(text: string): string | null {
  return numberIn(lossIn(parseExactJson(`[${text}]`) as object, '0'));
}

function numberIn(loss: string | null): string | null {
  return (
    loss && /^the number (.+), which JavaScript cannot keep exactly; send it as a string$/.exec(loss)![1]!
  );
}

describe('parseExactJson', () => {
  it('reads what JSON.parse reads, and finds no loss in numbers that a double can hold', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const text = JSON.stringify(value);
        expect(parseExactJson(text)).toEqual(JSON.parse(text));
      }),
    );
    fc.assert(
      fc.property(fc.double({ noDefaultInfinity: true, noNaN: true }), (value) => {
        const integer = Number.isInteger(value) && Math.abs(value) > 2 ** 53 && !String(value).includes('e');
        expect(lostNumber(String(value))).toBe(integer ? String(value) : null);
      }),
    );
  });

  it('rejects what JSON.parse rejects', () => {
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

  it('finds a loss anywhere, beside exact numbers and strings that look like numbers', () => {
    const found = parseExactJson('{"a":"1e400","b":[1,{"c":9007199254740993}],"d":1e400}') as object;
    expect(found).toEqual({ a: '1e400', b: [1, { c: 9007199254740992 }], d: Infinity });
    expect(lossIn(found, 'a')).toBeNull();
    expect(numberIn(lossIn(found, 'b'))).toBe('9007199254740993');
    expect(numberIn(lossIn(found, 'd'))).toBe('1e400');
  });

  it('tells 2^53 from 2^53 + 1', () => {
    expect(lostNumber('9007199254740992')).toBeNull();
    expect(lostNumber('9007199254740993')).toBe('9007199254740993');
  });

  it.each(['-0', '-0.0', '-0e5', '-0E-1', '-1e-999'])(
    'finds %s, which would be written back as 0',
    (text) => {
      expect(lostNumber(text)).toBe(text);
      expect(parseExactJson(`{"a":${text}}`)).toEqual(JSON.parse(`{"a":${text}}`));
    },
  );

  it.each(['0', '-1', '-0.5', '-10', '0e9', '1e-0', '"-0"'])('finds no loss in %s', (text) => {
    expect(lostNumber(text)).toBeNull();
  });

  it.each([
    ['{"a":1,"a":2}', '"a"'],
    ['{"a":1,"b":{"x":[{"c":1,"a":0,"c":1}]}}', '"c"'],
    ['{"a":1,"\\u0061":2}', '"\\u0061"'],
    ['{"\\/":1,"/":2}', '"/"'],
    ['{"":1,"":2}', '""'],
    ['{"__proto__":1,"__proto__":{"b":2}}', '"__proto__"'],
    ['{"7":1,"a":2,"7":3}', '"7"'],
    ['{"a":{"b":1},"c":2,"a":{"b":3}}', '"a"'],
    [`{${Array.from({ length: 40 }, (_, at) => `"k${at}":${at}`).join()},"k39":0}`, '"k39"'],
  ])('reads %s as JSON.parse does, and finds the repeated name', (text, name) => {
    const found = parseExactJson(`[${text}]`) as object;
    expect(JSON.stringify(found)).toBe(JSON.stringify(JSON.parse(`[${text}]`)));
    expect(lossIn(found, '0')).toBe(`the name ${name} twice in one object; send each name once`);
    expect(lossIn(found, '0', 'name')).not.toBeNull();
    expect(lossIn(found, '0', 'number')).toBeNull();
    expect(Object.getPrototypeOf((found as object[])[0])).toBe(Object.prototype);
  });

  it('tells the repeated names of the object itself, and kinds of loss', () => {
    const found = parseExactJson('{"a":1e400,"b":{"c":1,"c":2},"d":1,"d":2}') as { [key: string]: object };
    expect(repeatedNames(found)).toEqual(['d']);
    expect(repeatedNames(found.b!)).toEqual(['c']);
    expect(lossIn(found, 'a', 'name')).toBeNull();
    expect(lossIn(found, 'b', 'name')).toContain('"c"');
  });

  it.each([
    '[{"a":1},{"a":2}]',
    '{"a":{"a":{"a":"a"}},"A":["a","a"]}',
    '{"a":1,"b":"a"}',
    '{"e\u0301":1,"\u00e9":2}',
  ])('finds no repeated name in %s', (text) => {
    expect(lossIn(parseExactJson(`[${text}]`) as object, '0')).toBeNull();
  });

  it('reads any text with names that repeat as JSON.parse does', () => {
    const names = fc.constantFrom('a', 'b', '\\u0061', '__proto__', '1', 'toString');
    const { value } = fc.letrec<{ value: string }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom('1', '-0', '1e400', 'null', '"a"'),
        fc.array(tie('value'), { maxLength: 3 }).map((items) => `[${items.join()}]`),
        fc
          .array(fc.tuple(names, tie('value')), { maxLength: 4 })
          .map((members) => `{${members.map(([name, item]) => `"${name}":${item}`).join()}}`),
      ),
    }));
    fc.assert(
      fc.property(value, (text) => {
        expect(parseExactJson(text)).toEqual(JSON.parse(text));
        expect(JSON.stringify(parseExactJson(text))).toBe(JSON.stringify(JSON.parse(text)));
      }),
    );
  });

  it('rejects a text with very many repeated names', () => {
    const repeats = (count: number) => `{${'"a":1,'.repeat(count)}"b":1}`;
    expect(parseExactJson(repeats(10_000))).toEqual({ a: 1, b: 1 });
    expect(() => parseExactJson(repeats(20_000))).toThrow('repeats more than 10000 names');
  });

  it('rejects a text with very many numbers that no double can hold', () => {
    const numbers = (count: number) => `[${'1e400,'.repeat(count)}0]`;
    expect(parseExactJson(numbers(1_000))).toHaveLength(1_001);
    expect(() => parseExactJson(numbers(1_000_000))).toThrow('cannot keep exactly');
  });

  it('takes linear time for numbers of millions of digits', () => {
    // Quadratic time would take hours on these.
    const texts = [
      ...[`1.${'0'.repeat(4e6)}1`, '9'.repeat(4e6), `0.${'0'.repeat(4e6)}`],
      `[${'1e400,'.repeat(9e3)}1]`,
    ];
    expect(texts.map((text) => parseExactJson(text))).toHaveLength(texts.length);
  });
});
