import { batch, codesOf, faultsOf, insert, remove, replace } from './parse-batch.sample.js';

describe('operations and lines', () => {
  it.each(['Replace', 'update', 'append', ''])(
    'rejects the operation %j as UNKNOWN_OPERATION',
    (operation) => {
      expect(codesOf(batch({ ...replace(1), operation }))).toEqual(['UNKNOWN_OPERATION']);
    },
  );

  it.each([
    ['a start after the end', replace(5, 4)],
    ['line 0', replace(0, 1)],
    ['a negative start', remove(-3, 1)],
    ['a negative afterLine', insert(-1)],
  ])('rejects %s as RANGE_INVALID', (_what, change) => {
    expect(codesOf(batch(change))).toContain('RANGE_INVALID');
  });

  it('rejects a wrong number of expected lines as LINE_COUNT_MISMATCH', () => {
    expect(codesOf(batch({ ...replace(1, 3), expectedOriginalLines: ['a', 'b'] }))).toEqual([
      'LINE_COUNT_MISMATCH',
    ]);
    expect(codesOf(batch({ ...remove(1), expectedOriginalLines: [] }))).toEqual(['LINE_COUNT_MISMATCH']);
  });

  it('rejects empty newLines and suggests delete', () => {
    for (const change of [insert(0, []), replace(1, 1, [])]) {
      expect(faultsOf(batch(change))).toMatchObject([
        { code: 'EMPTY_NEW_LINES', message: expect.stringContaining('"delete"') as string },
      ]);
    }
  });

  it('rejects newLines on a delete, empty ones too', () => {
    expect(codesOf(batch({ ...remove(1), newLines: ['x'] }))).toEqual(['NEW_LINES_ON_DELETE']);
    expect(codesOf(batch({ ...remove(1), newLines: [] }))).toEqual(['NEW_LINES_ON_DELETE']);
  });

  it.each([
    ['a line feed in a new line', insert(0, ['a\nb'])],
    ['a line feed at the end of a new line', insert(0, ['a\n'])],
    ['a carriage return at the end of a new line', insert(0, ['a\r'])],
    ['a carriage return inside a new line', insert(0, ['a\rb'])],
    ['a line feed in an expected line', { ...remove(1), expectedOriginalLines: ['a\nb'] }],
  ])('rejects %s as NEWLINE_IN_LINE', (_what, change) => {
    expect(codesOf(batch(change))).toEqual(['NEWLINE_IN_LINE']);
  });

  it('accepts a carriage return in an expected line, also at its end, and U+2028, NEL, VT, FF in any line', () => {
    const odd = 'a\u2028b\u0085c\u000bd\u000ce';
    expect(codesOf(batch({ ...replace(1, 1, [odd]), expectedOriginalLines: [`a\rb${odd}`] }))).toEqual([]);
  });

  it.each([
    ['NUL', 'a\0'],
    ['a lone surrogate', '\ud800'],
  ])('rejects %s in a line as NOT_TEXT', (_what, text) => {
    expect(codesOf(batch(insert(0, [text])))).toEqual(['NOT_TEXT']);
    expect(codesOf(batch({ ...remove(1), expectedOriginalLines: [text] }))).toEqual(['NOT_TEXT']);
  });

  it.each([
    ['an insert at the top', [insert(0, ['\uFEFFx'])]],
    ['a replace of line 1', [replace(1, 1, ['\uFEFFx'])]],
    ['an insert after all lines above it were deleted', [remove(1), remove(2), insert(2, ['\uFEFFx'])]],
  ])('rejects U+FEFF at the start of a new line 1, by %s', (_what, changes) => {
    expect(codesOf(batch(...changes))).toEqual(['NOT_TEXT']);
  });

  it('accepts U+FEFF at the start of any other line', () => {
    expect(
      codesOf(batch(insert(0, ['x', '\uFEFFx']), insert(0, ['\uFEFFx']), replace(4, 4, ['\uFEFFx']))),
    ).toEqual([]);
  });

  it('rejects a file patch that changes nothing, but not a single such change', () => {
    const same = replace(1, 1, ['old']);
    expect(faultsOf(batch(same, replace(2, 2, ['old'])))).toMatchObject([
      { code: 'NO_CHANGE', changeIndex: null },
    ]);
    expect(codesOf(batch(same, insert(1)))).toEqual([]);
  });
});

describe('order and overlap [LINE-3]', () => {
  it.each([
    ['adjacent ranges', [replace(1, 2), remove(3, 4)]],
    ['an insert directly before a range', [insert(4), replace(5, 6)]],
    ['an insert directly after a range', [replace(5, 6), insert(6)]],
    ['an insert after k before a range k..k in the array', [insert(5), replace(5)]],
    ['an insert after k behind a range k..k in the array', [replace(5), insert(5)]],
    ['inserts around a range k..k', [insert(4), insert(5), replace(5), insert(5)]],
    ['two inserts at one line', [insert(3, ['a']), insert(3, ['b'])]],
  ])('accepts %s', (_what, changes) => {
    expect(codesOf(batch(...changes))).toEqual([]);
  });

  it.each([
    ['ranges that share a line', [replace(1, 3), remove(3, 4)], 1, 0],
    ['the same range twice', [replace(2), replace(2)], 1, 0],
    ['a range inside another', [remove(10, 12), replace(11)], 1, 0],
    ['an insert inside a range', [replace(5, 7), insert(6)], 1, 0],
    ['an insert after the first line of a longer range', [insert(5), replace(5, 7)], 1, 0],
    ['ranges that are apart in the array', [replace(1, 9), insert(9), remove(9)], 2, 0],
  ])('rejects %s as OVERLAP', (_what, changes, changeIndex, overlapsWith) => {
    expect(faultsOf(batch(...changes))).toMatchObject([{ code: 'OVERLAP', changeIndex, overlapsWith }]);
  });

  it('rejects changes that overlap a long range, also behind a short one that does', () => {
    expect(faultsOf(batch(replace(1, 10), replace(2, 3), replace(5, 6)))).toMatchObject([
      { code: 'OVERLAP', changeIndex: 1, overlapsWith: 0 },
      { code: 'OVERLAP', changeIndex: 2, overlapsWith: 0 },
    ]);
  });

  it('rejects changes that are not top to bottom as ORDER', () => {
    expect(faultsOf(batch(replace(9), insert(3), replace(5)))).toMatchObject([
      { code: 'ORDER', changeIndex: 1, message: expect.stringContaining('do not renumber') as string },
    ]);
    expect(codesOf(batch(insert(7), replace(6)))).toEqual(['ORDER']);
  });

  it('finds overlaps in an unordered list too', () => {
    expect(codesOf(batch(replace(5, 7), replace(3, 6)))).toEqual(['ORDER', 'OVERLAP']);
  });
});
