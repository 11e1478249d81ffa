import fc from 'fast-check';
import { jsonFault } from './json-fault.js';

describe('the position where a text stops being JSON', () => {
  it.each([
    ['', 'line 1, column 1: it ends too early, behind ""'],
    ['{"a": [1, 2', 'line 1, column 12: it ends too early, behind "{\\"a\\": [1, 2"'],
    ['{"a": "b', 'line 1, column 9: it ends too early, behind "{\\"a\\": \\"b"'],
    ['[1, 2,]', 'line 1, column 7, at "]" behind "[1, 2,"'],
    ['{\n  "a": 1,\n  b: 2\n}', 'line 3, column 3, at "b: 2\\n}" behind "{\\n  \\"a\\": 1,\\n  "'],
    ['["a\nb"]', 'line 1, column 4, at "\\nb\\"]" behind "[\\"a"'],
    ['["\\d"]', 'line 1, column 3, at "\\\\d\\"]" behind "[\\""'],
    ['[1] x', 'line 1, column 5, at "x" behind "[1] "'],
    ["{'a': 1}", 'line 1, column 2, at "\'a\': 1}" behind "{"'],
    ['[01]', 'line 1, column 3, at "1]" behind "[0"'],
    ['{"a" 1}', 'line 1, column 6, at "1}" behind "{\\"a\\" "'],
  ])('is reported for %j', (text, fault) => {
    expect(jsonFault(text)).toBe(fault);
  });

  it('shows a little of the text, without half characters', () => {
    const fault = jsonFault(`["${'😀'.repeat(100)}" ${'😀'.repeat(100)}`)!;
    expect(fault.isWellFormed()).toBe(true);
    expect(fault.length).toBeLessThan(120);
  });

  it('is null for JSON, and set for whatever JSON.parse rejects', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(jsonFault(` ${text}\n`)).toBeNull();
      }),
    );
    const pieces = fc.constantFrom(
      ...[
        '{',
        '}',
        '[',
        ']',
        ',',
        ':',
        '"',
        '"a"',
        '\\',
        '1',
        '-',
        '.',
        'e',
        '0',
        'true',
        'nul',
        ' ',
        '\t',
        '\u00a0',
      ],
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 9 }), (parts) => {
        const text = parts.join('');
        let isJson = true;
        try {
          JSON.parse(text);
        } catch {
          isJson = false;
        }
        expect(jsonFault(text) === null).toBe(isJson);
      }),
      { numRuns: 3_000 },
    );
  });

  it('is found in linear time', () => {
    for (const text of ['['.repeat(1e6), '"\\'.repeat(1e6), '1'.repeat(1e6) + 'x', '\n'.repeat(1e6)])
      expect(jsonFault(text)).not.toBeNull();
  });
});
