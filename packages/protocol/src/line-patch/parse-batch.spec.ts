import { parsePatchBatch } from '../line-patch.js';
import {
  batch,
  codesOf,
  faultsOf,
  file,
  insert,
  parsed,
  remove,
  replace,
  SHA,
} from './parse-batch.sample.js';

describe('a valid batch', () => {
  it('is parsed with its keys, labels and descriptions, and null for absent ones', () => {
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

  it('may have null for optional fields and for fields of another operation', () => {
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

  it('gets its sha256 in lowercase', () => {
    const input = { files: [file([insert(0)], { originalSha256: SHA.toUpperCase() })] };
    expect(parsed(input).files[0]?.originalSha256).toBe(SHA);
  });

  it('may have ids, which are dropped because the server assigns them', () => {
    const input = {
      batchId: 'b',
      files: [file([{ ...insert(0), changeId: 'chg-0007' }], { filePatchId: 'p' })],
    };
    expect(JSON.stringify(parsed(input))).not.toMatch(/Id"/);
  });

  it('keeps its ids if the system made it', () => {
    const input = {
      batchId: 'b',
      files: [file([{ ...insert(0), changeId: 'chg-0007' }], { filePatchId: 'p' })],
    };
    expect(parsed(input, { trusted: true })).toMatchObject(input);
  });

  it('is parsed to the same result again', () => {
    const first = parsed(batch(insert(0), replace(1), remove(2)));
    expect(parsed(first)).toEqual(first);
  });
});

describe('the report of faults', () => {
  it('lists every fault of every file at once, with its place [PATCH-1]', () => {
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

  it('allows exactly the maximum of files and changes [PATCH-8]', () => {
    const files = (count: number) => ({
      files: Array.from({ length: count }, (_, n) => file([insert(1)], { docPath: `repo/${n}` })),
    });
    expect([3, 4].map((count) => codesOf(files(count), { maxFiles: 3 }))).toEqual([[], ['TOO_LARGE']]);
    expect([3, 4].map((count) => codesOf(files(count), { maxChanges: 3 }))).toEqual([[], ['TOO_LARGE']]);
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
    // An unknown field and a line feed in each change, and all but the first out of order.
    expect(worst.ok ? 0 : worst.moreFaults).toBe(3 * 200_000 - 1 - 100);
  }, 120_000);
});

describe('a system-made batch', () => {
  const trusted = { trusted: true };
  it('may give the ending of each new line', () => {
    const change = { ...replace(1, 1, ['a', 'b']), newEndings: ['\r\n', ''] };
    expect(parsed(batch(change), trusted).files[0]?.changes[0]).toMatchObject(change);
  });

  it.each([
    ['too few', ['\n']],
    ['an unknown one', ['\n', '\r']],
    ['empty before the last line', ['', '\n']],
    ['not an array', '\n'],
  ])('is rejected with endings that are %s', (_what, newEndings) => {
    expect(codesOf(batch({ ...insert(0, ['a', 'b']), newEndings }), trusted)).toEqual(['SCHEMA']);
  });

  it('may restore lines with a carriage return that is not part of the ending', () => {
    expect(codesOf(batch({ ...insert(0, ['a\rb', 'c\r']), newEndings: ['\n', '\r\n'] }), trusted)).toEqual(
      [],
    );
    expect(codesOf(batch({ ...insert(0, ['c\r']), newEndings: ['\n'] }), trusted)).toEqual(['SCHEMA']);
  });
});
