import fc from 'fast-check';
import { type ParseOptions, parsePatchBatch } from '../line-patch.js';
import type { PatchFault } from '../patch-batch.js';

const SHA = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const insert = (afterLine: unknown, newLines: unknown = ['x']) => ({
  operation: 'insert',
  afterLine,
  newLines,
});
const replace = (startLine: number, endLine = startLine, newLines: unknown = ['x']) => ({
  operation: 'replace',
  startLine,
  endLine,
  expectedOriginalLines: Array.from({ length: Math.max(1, endLine - startLine + 1) }, () => 'old'),
  newLines,
});
const remove = (startLine: number, endLine = startLine) => {
  const { newLines: _none, ...range } = replace(startLine, endLine);
  return { ...range, operation: 'delete' };
};
const file = (changes: unknown, more: object = {}) => ({
  docPath: 'repo/a.txt',
  originalSha256: SHA,
  changes,
  ...more,
});
const batch = (...changes: unknown[]) => ({ files: [file(changes)] });

function faultsOf(input: unknown, options?: ParseOptions): PatchFault[] {
  const result = parsePatchBatch(input, options);
  return result.ok ? [] : result.faults;
}
const codesOf = (input: unknown, options?: ParseOptions) => faultsOf(input, options).map(({ code }) => code);
const parsed = (input: unknown, options?: ParseOptions) => {
  const result = parsePatchBatch(input, options);
  if (!result.ok) throw new Error(JSON.stringify(result.faults));
  return result.batch;
};

describe('a batch that fits the rules', () => {
  it('is taken with its keys, labels and descriptions, absent ones as null', () => {
    const change = { ...replace(2), changeKey: 'c', description: 'why' };
    const input = {
      batchKey: 'b',
      batchLabel: 'B',
      files: [file([change], { fileKey: 'f', fileLabel: 'F' })],
    };
    expect(parsed(input)).toEqual(input);
    expect(parsed(batch(insert(0)))).toEqual({
      batchKey: null,
      batchLabel: null,
      files: [
        file([{ ...insert(0), changeKey: null, description: null }], { fileKey: null, fileLabel: null }),
      ],
    });
  });

  it('may say null for what is optional and for the fields of another operation', () => {
    const change = {
      ...insert(1),
      changeKey: null,
      startLine: null,
      endLine: null,
      expectedOriginalLines: null,
    };
    expect(codesOf({ batchKey: null, files: [file([change], { fileLabel: null })] })).toEqual([]);
    expect(codesOf(batch({ ...remove(1), newLines: null }))).toEqual([]);
  });

  it('has its sha256 stored in lowercase', () => {
    const input = { files: [file([insert(0)], { originalSha256: SHA.toUpperCase() })] };
    expect(parsed(input).files[0]?.originalSha256).toBe(SHA);
  });

  it('may hold ids, which are ours to give and are dropped', () => {
    const input = {
      batchId: 'b',
      files: [file([{ ...insert(0), changeId: 'chg-0007' }], { filePatchId: 'p' })],
    };
    expect(JSON.stringify(parsed(input))).not.toMatch(/Id"/);
  });

  it('keeps its ids when it comes from the system', () => {
    const input = {
      batchId: 'b',
      files: [file([{ ...insert(0), changeId: 'chg-0007' }], { filePatchId: 'p' })],
    };
    expect(parsed(input, { trusted: true })).toMatchObject(input);
  });

  it('is parsed again to the same when it was parsed before', () => {
    const first = parsed(batch(insert(0), replace(1), remove(2)));
    expect(parsed(first)).toEqual(first);
  });
});

describe('the schema', () => {
  it.each([
    ['null', null],
    ['a string', 'x'],
    ['an array', []],
    ['no files', {}],
    ['empty files', { files: [] }],
    ['files that are an object', { files: { 0: file([insert(0)]) } }],
    ['a file that is null', { files: [null] }],
    ['no docPath', { files: [{ originalSha256: SHA, changes: [insert(0)] }] }],
    ['a docPath that is a number', { files: [file([insert(0)], { docPath: 7 })] }],
    ['no sha256', { files: [{ docPath: 'a', changes: [insert(0)] }] }],
    ['no changes', { files: [{ docPath: 'a', originalSha256: SHA }] }],
    ['empty changes', { files: [file([])] }],
    ['a change that is a string', batch('insert')],
    ['no operation', batch({ afterLine: 0, newLines: ['x'] })],
    ['no afterLine', batch({ operation: 'insert', newLines: ['x'] })],
    ['a number as a string', batch(insert('5'))],
    ['a fraction', batch(insert(1.5))],
    ['a number beyond 2^53', batch(insert(1e300))],
    ['no newLines', batch({ operation: 'insert', afterLine: 0 })],
    ['newLines that are a string', batch(insert(0, 'x'))],
    ['a new line that is a number', batch(insert(0, ['x', 5]))],
    ['no expectedOriginalLines', batch({ operation: 'delete', startLine: 1, endLine: 1 })],
    ['a key that is a number', batch({ ...insert(0), changeKey: 5 })],
    ['a key of 257 characters', batch({ ...insert(0), changeKey: 'k'.repeat(257) })],
    ['a field of another operation', batch({ ...insert(0), startLine: 1 })],
    ['an unknown field of a batch', { ...batch(insert(0)), mode: 'force' }],
    ['an unknown field of a file', { files: [file([insert(0)], { path: 'a' })] }],
    ['newEndings from outside', batch({ ...insert(0), newEndings: ['\n'] })],
  ])('refuses %s', (_what, input) => {
    expect(codesOf(input)).toEqual(['SCHEMA']);
  });

  it('says what it got and how to mend it', () => {
    const messages = faultsOf(batch({ ...insert('5'), after_line: 5 })).map(({ message }) => message);
    expect(messages[0]).toMatch(/no field "after_line" \(did you mean "afterLine"\?\)/);
    expect(messages[1]).toBe(
      'afterLine must be a whole number, but it is the string "5": send 5 without quotes.',
    );
  });

  it('refuses __proto__ as a key and pollutes nothing', () => {
    const text = `{"files":[{"docPath":"a","originalSha256":"${SHA}","__proto__":{"fileKey":"evil"},"changes":[
      {"operation":"insert","afterLine":0,"newLines":["x"],"__proto__":{"polluted":true}}]}],"__proto__":{}}`;
    const faults = faultsOf(JSON.parse(text));
    expect(faults.map(({ code }) => code)).toEqual(['SCHEMA', 'SCHEMA', 'SCHEMA']);
    expect(faults.map(({ fileKey }) => fileKey)).toEqual([null, null, null]);
    expect(faults[0]?.message).toContain('"__proto__"');
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it('reads no field off a prototype', () => {
    const input = Object.create({ files: [file([insert(0)])] }) as object;
    expect(codesOf(input)).toEqual(['SCHEMA']);
  });

  it('survives any nesting', () => {
    let deep: unknown = [];
    for (let depth = 0; depth < 100_000; depth += 1) deep = [deep];
    expect(codesOf({ files: deep })).toEqual(['SCHEMA']);
    expect(codesOf(batch(insert(0, [deep])))).toEqual(['SCHEMA']);
    expect(codesOf(batch({ ...insert(0), operation: deep }))).toEqual(['SCHEMA']);
  });

  it('never throws, whatever it is given', () => {
    const junk = fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.anything());
    const field = fc.constantFrom(
      'operation',
      'afterLine',
      'startLine',
      'endLine',
      'newLines',
      '__proto__',
      'x',
    );
    const change = fc.dictionary(
      field,
      fc.oneof(junk, fc.constantFrom('insert', 'replace', 'delete', 1, -1, ['x'])),
    );
    const patch = fc.record({
      docPath: fc.oneof(junk, fc.string()),
      originalSha256: junk,
      changes: fc.array(change),
    });
    fc.assert(
      fc.property(fc.oneof(junk, fc.record({ files: fc.array(patch) })), fc.boolean(), (input, trusted) => {
        const result = parsePatchBatch(input, { trusted });
        expect(result.ok || result.faults.length > 0).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  it('keeps long values out of its messages', () => {
    const long = 'y'.repeat(1_000_000);
    const input = { files: [file([{ ...insert(0), [long]: 1, operation: long }], { originalSha256: long })] };
    for (const { message } of faultsOf(input)) expect(message.length).toBeLessThan(600);
  });
});

describe('docPath and sha256', () => {
  it.each(['Repo/A.txt', '/repo/a.txt', 'repo//a', 'repo/../a', './a', 'a/', '', 'cafe\u0301.txt'])(
    'refuses %j as INVALID_DOC_PATH',
    (docPath) => {
      expect(codesOf({ files: [file([insert(0)], { docPath })] })).toEqual(['INVALID_DOC_PATH']);
    },
  );

  it('names the right form of a docPath with capitals', () => {
    const [fault] = faultsOf({ files: [file([insert(0)], { docPath: 'Repo/Caf\u00c9.txt' })] });
    expect(fault?.message).toContain('"repo/caf\u00e9.txt"');
  });

  it('refuses a docPath over 1,024 characters', () => {
    const docPath = 'a/'.repeat(600) + 'b';
    expect(codesOf({ files: [file([insert(0)], { docPath })] })).toEqual(['INVALID_DOC_PATH']);
  });

  it('refuses a file twice, also after lowercasing and NFC [PATCH-8]', () => {
    const one = file([insert(0)], { docPath: 'repo/caf\u00e9' });
    const same = faultsOf({ files: [one, one] });
    expect(same).toMatchObject([{ fileIndex: 1, changeIndex: null, code: 'DUPLICATE_DOC_PATH' }]);
    const folded = codesOf({ files: [one, file([insert(0)], { docPath: 'Repo/CAFE\u0301' })] });
    expect(folded).toEqual(['INVALID_DOC_PATH', 'DUPLICATE_DOC_PATH']);
  });

  it.each(['', 'abc', SHA.slice(1), `${SHA}0`, SHA.replace('e', 'g'), ` ${SHA.slice(1)}`])(
    'refuses the sha256 %j as INVALID_SHA256',
    (originalSha256) => {
      expect(codesOf({ files: [file([insert(0)], { originalSha256 })] })).toEqual(['INVALID_SHA256']);
    },
  );

  it('refuses 10,001 files as TOO_LARGE and takes 10,000', () => {
    const files = Array.from({ length: 10_001 }, (_, n) => file([insert(0)], { docPath: `repo/${n}` }));
    expect(codesOf({ files })).toEqual(['TOO_LARGE']);
    expect(codesOf({ files: files.slice(1) })).toEqual([]);
    expect(codesOf({ files: files.slice(0, 3) }, { maxFiles: 2 })).toEqual(['TOO_LARGE']);
  });
});

describe('operations and lines', () => {
  it.each(['Replace', 'update', 'append', ''])(
    'refuses the operation %j as UNKNOWN_OPERATION',
    (operation) => {
      expect(codesOf(batch({ ...replace(1), operation }))).toEqual(['UNKNOWN_OPERATION']);
    },
  );

  it.each([
    ['a start after the end', replace(5, 4)],
    ['line 0', replace(0, 1)],
    ['a negative start', remove(-3, 1)],
    ['a negative afterLine', insert(-1)],
  ])('refuses %s as RANGE_INVALID', (_what, change) => {
    expect(codesOf(batch(change))).toContain('RANGE_INVALID');
  });

  it('refuses a wrong number of expected lines as LINE_COUNT_MISMATCH', () => {
    expect(codesOf(batch({ ...replace(1, 3), expectedOriginalLines: ['a', 'b'] }))).toEqual([
      'LINE_COUNT_MISMATCH',
    ]);
    expect(codesOf(batch({ ...remove(1), expectedOriginalLines: [] }))).toEqual(['LINE_COUNT_MISMATCH']);
  });

  it('refuses empty newLines and points to delete', () => {
    for (const change of [insert(0, []), replace(1, 1, [])]) {
      expect(faultsOf(batch(change))).toMatchObject([
        { code: 'EMPTY_NEW_LINES', message: expect.stringContaining('"delete"') as string },
      ]);
    }
  });

  it('refuses newLines on a delete, empty ones too', () => {
    expect(codesOf(batch({ ...remove(1), newLines: ['x'] }))).toEqual(['NEW_LINES_ON_DELETE']);
    expect(codesOf(batch({ ...remove(1), newLines: [] }))).toEqual(['NEW_LINES_ON_DELETE']);
  });

  it.each([
    ['a line feed in a new line', insert(0, ['a\nb'])],
    ['a line feed at the end of a new line', insert(0, ['a\n'])],
    ['a carriage return at the end of a new line', insert(0, ['a\r'])],
    ['a carriage return inside a new line', insert(0, ['a\rb'])],
    ['a line feed in an expected line', { ...remove(1), expectedOriginalLines: ['a\nb'] }],
    ['a carriage return at the end of an expected line', { ...remove(1), expectedOriginalLines: ['a\r'] }],
  ])('refuses %s as NEWLINE_IN_LINE', (_what, change) => {
    expect(codesOf(batch(change))).toEqual(['NEWLINE_IN_LINE']);
  });

  it('takes a lone carriage return inside an expected line, and U+2028, NEL, VT, FF in any', () => {
    const odd = 'a\u2028b\u0085c\u000bd\u000ce';
    expect(codesOf(batch({ ...replace(1, 1, [odd]), expectedOriginalLines: [`a\rb${odd}`] }))).toEqual([]);
  });

  it.each([
    ['NUL', 'a\0'],
    ['a lone surrogate', '\ud800'],
  ])('refuses %s in a line as NOT_TEXT', (_what, text) => {
    expect(codesOf(batch(insert(0, [text])))).toEqual(['NOT_TEXT']);
    expect(codesOf(batch({ ...remove(1), expectedOriginalLines: [text] }))).toEqual(['NOT_TEXT']);
  });

  it.each([
    ['an insert at the top', [insert(0, ['\uFEFFx'])]],
    ['a replace of line 1', [replace(1, 1, ['\uFEFFx'])]],
    ['an insert after all lines above it were deleted', [remove(1), remove(2), insert(2, ['\uFEFFx'])]],
  ])('refuses U+FEFF at the start of a new line 1, by %s', (_what, changes) => {
    expect(codesOf(batch(...changes))).toEqual(['NOT_TEXT']);
  });

  it('takes U+FEFF at the start of any other line', () => {
    expect(
      codesOf(batch(insert(0, ['x', '\uFEFFx']), insert(0, ['\uFEFFx']), replace(4, 4, ['\uFEFFx']))),
    ).toEqual([]);
  });

  it('refuses a file patch that changes nothing, but not a single such change', () => {
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
  ])('takes %s', (_what, changes) => {
    expect(codesOf(batch(...changes))).toEqual([]);
  });

  it.each([
    ['ranges that share a line', [replace(1, 3), remove(3, 4)], 1, 0],
    ['the same range twice', [replace(2), replace(2)], 1, 0],
    ['a range inside another', [remove(10, 12), replace(11)], 1, 0],
    ['an insert inside a range', [replace(5, 7), insert(6)], 1, 0],
    ['an insert after the first line of a longer range', [insert(5), replace(5, 7)], 1, 0],
    ['ranges that are apart in the array', [replace(1, 9), insert(9), remove(9)], 2, 0],
  ])('refuses %s as OVERLAP', (_what, changes, changeIndex, overlapsWith) => {
    expect(faultsOf(batch(...changes))).toMatchObject([{ code: 'OVERLAP', changeIndex, overlapsWith }]);
  });

  it('refuses changes that are not top to bottom as ORDER', () => {
    expect(faultsOf(batch(replace(9), insert(3), replace(5)))).toMatchObject([
      { code: 'ORDER', changeIndex: 1, message: expect.stringContaining('do not renumber') as string },
    ]);
    expect(codesOf(batch(insert(7), replace(6)))).toEqual(['ORDER']);
  });

  it('finds overlaps in a list without order as well', () => {
    expect(codesOf(batch(replace(5, 7), replace(3, 6)))).toEqual(['ORDER', 'OVERLAP']);
  });
});

describe('the report of faults', () => {
  it('names every fault of every file at once, with its place [PATCH-1]', () => {
    const input = {
      files: [
        file(
          [{ ...insert(-1, ['a\n']), changeKey: 'first' }, replace(5, 6), { ...remove(6), changeKey: 'k' }],
          {
            fileKey: 'one',
          },
        ),
        file([{ operation: 'patch' }], { docPath: 'B', originalSha256: 'x' }),
      ],
    };
    const one = { fileIndex: 0, fileKey: 'one', docPath: 'repo/a.txt' };
    const two = { fileIndex: 1, fileKey: null, docPath: 'B' };
    expect(faultsOf(input)).toMatchObject([
      { ...one, changeIndex: 0, changeKey: 'first', code: 'NEWLINE_IN_LINE' },
      { ...one, changeIndex: 0, changeKey: 'first', code: 'RANGE_INVALID' },
      { ...one, changeIndex: 2, changeKey: 'k', code: 'OVERLAP' },
      { ...two, changeIndex: null, changeKey: null, code: 'INVALID_DOC_PATH' },
      { ...two, changeIndex: null, changeKey: null, code: 'INVALID_SHA256' },
      { ...two, changeIndex: 0, changeKey: null, code: 'UNKNOWN_OPERATION' },
    ]);
  });

  it('shows the first 100 and counts the rest [PATCH-1]', () => {
    const result = parsePatchBatch(batch(...Array.from({ length: 250 }, () => ({ ...insert(0, []) }))));
    expect(result).toMatchObject({ ok: false, moreFaults: 150 });
    expect(!result.ok && result.faults.map(({ changeIndex }) => changeIndex)).toEqual([...Array(100).keys()]);
  });

  it('stays bounded for a million changes, and for many bad ones', () => {
    const listOf = (length: number, change: (n: number) => unknown) => ({
      files: [file(Array.from({ length }, (_, n) => change(n)))],
    });
    expect(codesOf(listOf(1_000_000, (n) => insert(n)))).toEqual([]);
    const [expectedOriginalLines, newLines] = [['old'], ['\n']];
    const bad = (line: number) => {
      const operation = 'replace';
      return { operation, startLine: line, endLine: line, expectedOriginalLines, newLines, junk: 1 };
    };
    const worst = parsePatchBatch(listOf(200_000, (n) => bad(200_000 - n)));
    expect(worst.ok ? 0 : worst.faults.length).toBe(100);
    // An unknown field and a line feed in each, and all but the first out of order.
    expect(worst.ok ? 0 : worst.moreFaults).toBe(3 * 200_000 - 1 - 100);
  }, 120_000);
});

describe('a batch that the system made', () => {
  const trusted = { trusted: true };
  it('may state the ending of each new line', () => {
    const change = { ...replace(1, 1, ['a', 'b']), newEndings: ['\r\n', ''] };
    expect(parsed(batch(change), trusted).files[0]?.changes[0]).toMatchObject(change);
  });

  it.each([
    ['too few', ['\n']],
    ['an unknown one', ['\n', '\r']],
    ['none before the last line', ['', '\n']],
    ['no array', '\n'],
  ])('is refused with endings that are %s', (_what, newEndings) => {
    expect(codesOf(batch({ ...insert(0, ['a', 'b']), newEndings }), trusted)).toEqual(['SCHEMA']);
  });

  it('may restore lines that hold a carriage return, but not let it become part of the ending', () => {
    expect(codesOf(batch({ ...insert(0, ['a\rb', 'c\r']), newEndings: ['\n', '\r\n'] }), trusted)).toEqual(
      [],
    );
    expect(codesOf(batch({ ...insert(0, ['c\r']), newEndings: ['\n'] }), trusted)).toEqual(['SCHEMA']);
  });
});
