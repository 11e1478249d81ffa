import { JsonCount, MAX_JSON_DEPTH, MAX_JSON_NAMES, MAX_JSON_VALUES, scanJson } from './json-scan.js';

const list = (count: number, item: string): string => `[${`${item},`.repeat(count - 1)}${item}]`;
const deep = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
const names = (count: number, nameOf: (index: number) => string): string =>
  `[${Array.from({ length: count }, (_, index) => `{"${nameOf(index)}" : 1}`).join(',')}]`;

describe('a scan of a JSON text', () => {
  it.each([
    ['numbers', '1e1'],
    ['texts', '"x"'],
    ['lists', '[]'],
    ['objects', '{}'],
    ['words', 'null'],
  ])('counts %s, and stops at the limit', (_what, item) => {
    expect(scanJson(list(MAX_JSON_VALUES - 1, item))).toEqual([]);
    expect(() => scanJson(list(MAX_JSON_VALUES, item))).toThrow('holds more than 250000 values');
  });

  it('counts each name once', () => {
    expect(scanJson(names(MAX_JSON_NAMES * 2, (index) => `name${index % 10}`))).toEqual([]);
    expect(() => scanJson(names(MAX_JSON_NAMES + 1, (index) => `name${index}`))).toThrow('different names');
  });

  it.each([
    ['[[]]', null],
    [deep(MAX_JSON_DEPTH), null],
    [deep(MAX_JSON_DEPTH + 1), 'is nested deeper than 250 levels'],
    ['['.repeat(1_000_000), 'is nested deeper than 250 levels'],
    ['[],'.repeat(1_000), null],
    [`["${'[\\"\\\\'.repeat(1_000)}"]`, null],
    [`"${'['.repeat(1_000)}`, null],
  ])('of %.20s enforces the limit of depth', (text, fault) => {
    if (fault === null) expect(scanJson(text)).toEqual([]);
    else expect(() => scanJson(text)).toThrow(fault);
  });

  it('counts numbers that need a closer look, exact or not', () => {
    expect(() => scanJson(list(100_001, '0.1234567890123456'))).toThrow('more than 15 digits');
    expect(scanJson(list(200_000, '0.123456789012345'))).toEqual([]);
  });

  it('shares one limit between several texts', () => {
    const count = new JsonCount();
    const half = list(MAX_JSON_VALUES / 2 - 1, '0');
    scanJson(half, count);
    scanJson(half, count);
    expect(() => scanJson('1', count)).toThrow('values');
  });

  it('reports where parsing would change numbers', () => {
    const text = '{"a":-1e400,"b":"1e400","c":[9007199254740993]}';
    expect(scanJson(text).map(({ start, end }) => text.slice(start, end))).toEqual([
      '-1e400',
      '9007199254740993',
    ]);
  });

  it('visits no character repeatedly', () => {
    // A quadratic scanner would take hours on these.
    const shapes = ['"\\\\', '\\"', '" ', '-', '1.', ' ', '":', '"":', '\\', 'e'];
    const scanned: string[] = [];
    for (const shape of shapes) {
      try {
        scanJson(shape.repeat(2_000_000));
      } catch {
        // The text may exceed a limit.
      }
      scanned.push(shape);
    }
    expect(scanned).toEqual(shapes);
  });
});
