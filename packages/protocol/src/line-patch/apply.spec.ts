import { applyFilePatch, checkFilePatch, parsePatchBatch, selectChanges } from '../line-patch.js';
import type { Ending, FilePatch, PatchFault } from '../patch-batch.js';

const SHA = '0'.repeat(64);
const insert = (afterLine: number, ...newLines: string[]) => ({ operation: 'insert', afterLine, newLines });
const replace = (startLine: number, expectedOriginalLines: string[], ...newLines: string[]) => ({
  operation: 'replace',
  startLine,
  endLine: startLine + expectedOriginalLines.length - 1,
  expectedOriginalLines,
  newLines,
});
const remove = (startLine: number, ...expectedOriginalLines: string[]) => ({
  operation: 'delete',
  startLine,
  endLine: startLine + expectedOriginalLines.length - 1,
  expectedOriginalLines,
});

function patchOf(changes: unknown[], trusted = false): FilePatch {
  const patch = { docPath: 'a', fileKey: 'f', originalSha256: SHA, changes };
  const result = parsePatchBatch({ files: [patch] }, { trusted });
  if (!result.ok) throw new Error(JSON.stringify(result.faults));
  return result.batch.files[0] as FilePatch;
}

function apply(content: string, ...changes: unknown[]): string {
  const result = applyFilePatch(Buffer.from(content), patchOf(changes));
  if (!result.ok) throw new Error(JSON.stringify(result.faults));
  return Buffer.from(result.bytes).toString();
}

function faultsOf(content: string | Buffer, ...changes: unknown[]): PatchFault[] {
  return checkFilePatch(Buffer.from(content as string), patchOf(changes), 3).faults;
}

describe('applying changes', () => {
  it('inserts at the top, in the middle and at the end', () => {
    expect(apply('a\nb\n', insert(0, 'x'), insert(1, 'y'), insert(2, 'z'))).toBe('x\na\ny\nb\nz\n');
  });

  it('gives each insert the ending of its own position', () => {
    expect(apply('a\r\nb\nc', insert(0, 'x'), insert(3, 'y'))).toBe('x\r\na\r\nb\nc\ny');
  });

  it('keeps a carriage return that is the last character of a restored line', () => {
    const result = applyFilePatch(Buffer.from('b\nc\n'), patchOf([insert(1, 'a\r')], true));
    expect(result.ok && Buffer.from(result.bytes).toString()).toBe('b\na\r\r\nc\n');
  });

  it('replaces and deletes ranges, with more or fewer lines than before', () => {
    expect(apply('a\nb\nc\nd\n', replace(1, ['a'], 'A', 'AA'), remove(2, 'b', 'c'))).toBe('A\nAA\nd\n');
    expect(apply('a\nb\nc\n', replace(1, ['a', 'b', 'c'], 'x'))).toBe('x\n');
  });

  it.each([
    ['the text of a line before CRLF', 'a\r\nb\r\n', 'a'],
    ['the line as it was read, before CRLF', 'a\r\nb\r\n', 'a\r'],
    ['a text that ends in a carriage return', 'a\r\r\nb\r\n', 'a\r'],
    ['that text as it was read', 'a\r\r\nb\r\n', 'a\r\r'],
    ['that text without it', 'a\r\r\nb\r\n', 'a'],
    ['that text at the end of the file', 'a\r', 'a\r'],
    ['that text at the end of the file without it', 'a\r', 'a'],
    ['a line that is a carriage return', '\r\r\nb\r\n', '\r'],
  ])('accepts as the expected line %s [LINE-2]', (_what, content, expected) => {
    const rest = content.replace(/^[^\n]*\n?/, '');
    const ending = content.endsWith('\n') ? '\r\n' : '';
    expect(apply(content, replace(1, [expected], 'X'))).toBe(`X${ending}${rest}`);
    expect(apply(content, remove(1, expected))).toBe(rest);
  });

  it.each([
    ['before LF', 'a\nb\n', 'a\r'],
    ['at the end of the file', 'a', 'a\r'],
    ['two extra ones', 'a\r\nb\n', 'a\r\r'],
    ['two missing ones', 'a\r\r\r\n', 'a'],
    ['in another place', 'a\rb\r\n', 'ab'],
  ])('rejects a missing or extra carriage return %s [LINE-2]', (_what, content, expected) => {
    expect(faultsOf(content, remove(1, expected))).toMatchObject([{ code: 'LINES_MISMATCH' }]);
  });

  it('finds lines elsewhere as they were read', () => {
    const content = 'a\r\nb\r\nc\r\n';
    expect(faultsOf(content, remove(1, 'b\r', 'c\r'))).toMatchObject([
      { code: 'LINES_MISMATCH', foundAt: 2 },
    ]);
  });

  it('applies all line numbers to the original file', () => {
    expect(apply('a\nb\nc\n', insert(0, '1', '2', '3'), replace(3, ['c'], 'C'))).toBe('1\n2\n3\na\nb\nC\n');
  });

  it('applies two inserts at one line in array order [LINE-3]', () => {
    expect(apply('a\nb\n', insert(1, 'x'), insert(1, 'y'))).toBe('a\nx\ny\nb\n');
  });

  it('puts an insert after k behind a range k..k, in any array order', () => {
    expect(apply('a\nb\n', insert(1, 'x'), replace(1, ['a'], 'A'))).toBe('A\nx\nb\n');
    expect(apply('a\nb\n', replace(1, ['a'], 'A'), insert(1, 'x'))).toBe('A\nx\nb\n');
    expect(apply('a\nb\n', insert(0, 'x'), remove(1, 'a'))).toBe('x\nb\n');
  });

  it('leaves an empty file when all lines are deleted', () => {
    expect(apply('a\nb', remove(1, 'a', 'b'))).toBe('');
  });

  it('counts an empty file as 0 lines and "a\\n" as 1 [LINE-1]', () => {
    expect(apply('', insert(0, 'x'))).toBe('x\n');
    expect(apply('a\n', insert(1, 'x'))).toBe('a\nx\n');
    expect(apply('\n', remove(1, ''))).toBe('');
  });

  it('applies the remaining changes at the same places when a person rejects some', () => {
    const patch = patchOf([insert(0, 'x', 'y'), remove(2, 'b'), replace(4, ['d'], 'D')]);
    const kept = applyFilePatch(
      Buffer.from('a\nb\nc\nd\n'),
      selectChanges(patch, (index) => index !== 0),
    );
    expect(kept.ok && Buffer.from(kept.bytes).toString()).toBe('a\nc\nD\n');
  });

  it('reads bytes at any offset of their buffer', () => {
    const text = Buffer.from(Array.from({ length: 300 }, (_, n) => `line ${n}`.repeat(n % 7)).join('\n'));
    const patch = patchOf([insert(0, 'top'), insert(250, 'middle'), insert(290, 'x')]);
    const expected = applyFilePatch(text, patch);
    for (let offset = 0; offset < 9; offset += 1) {
      const memory = new Uint8Array(text.length + 16).fill(10);
      memory.set(text, offset);
      expect(applyFilePatch(memory.subarray(offset, offset + text.length), patch)).toEqual(expected);
    }
  });

  it('ends a line at LF and CRLF only [LINE-1]', () => {
    const odd = 'a\rb\u2028c\u0085d\u000be\u000cf';
    expect(apply(`${odd}\nlast\n`, replace(2, ['last'], 'x'))).toBe(`${odd}\nx\n`);
    expect(apply(`${odd}\r\n`, replace(1, [odd], 'x'))).toBe('x\r\n');
  });
});

describe('line endings [LINE-4]', () => {
  it('gives the n-th new line the ending of the n-th replaced line, and further lines that of the last', () => {
    expect(apply('a\r\nb\nc\r\n', replace(1, ['a', 'b'], 'x', 'y', 'z'))).toBe('x\r\ny\nz\nc\r\n');
    expect(apply('a\r\nb\n', replace(1, ['a', 'b'], 'x'))).toBe('x\r\n');
  });

  it('gives inserted lines the ending of the nearest line above, else below, else LF', () => {
    expect(apply('a\r\nb\n', insert(1, 'x', 'y'))).toBe('a\r\nx\r\ny\r\nb\n');
    expect(apply('a\r\nb\n', insert(0, 'x'))).toBe('x\r\na\r\nb\n');
    expect(apply('', insert(0, 'x', 'y'))).toBe('x\ny\n');
    expect(apply('a', insert(0, 'x'))).toBe('x\na');
  });

  it('takes the line above from the original, also if it is replaced or deleted', () => {
    expect(apply('a\r\nb\n', remove(1, 'a'), insert(1, 'x'))).toBe('x\r\nb\n');
  });

  it('keeps the file without a last ending after a replace of the last line', () => {
    expect(apply('a\r\nb', replace(2, ['b'], 'x'))).toBe('a\r\nx');
    expect(apply('a\r\nb', replace(2, ['b'], 'x', 'y'))).toBe('a\r\nx\r\ny');
    expect(apply('a\r\nb', replace(1, ['a', 'b'], 'x'))).toBe('x');
    expect(apply('b', replace(1, ['b'], 'x', 'y'))).toBe('x\ny');
  });

  it('keeps the file without a last ending after an append', () => {
    expect(apply('a\r\nb', insert(2, 'x'))).toBe('a\r\nb\r\nx');
    expect(apply('b', insert(1, 'x', 'y'))).toBe('b\nx\ny');
    expect(apply('a\nb', replace(2, ['b'], 'B'), insert(2, 'x'))).toBe('a\nB\nx');
  });

  it('keeps the file without a last ending after an insert if the last line was deleted', () => {
    expect(apply('a\nb', remove(2, 'b'), insert(2, 'x'))).toBe('a\nx');
    expect(apply('a\nb', insert(1, 'x'), remove(2, 'b'))).toBe('a\nx');
  });

  it('leaves the line above untouched when only the last line is deleted', () => {
    expect(apply('a\r\nb', remove(2, 'b'))).toBe('a\r\n');
  });

  it('keeps mixed endings of untouched lines', () => {
    expect(apply('a\r\nb\nc\r\nd', insert(2, 'x'))).toBe('a\r\nb\nx\nc\r\nd');
  });

  it('never lets a carriage return that is content become part of an ending', () => {
    expect(apply('a\r', insert(1, 'x'))).toBe('a\r\r\nx');
  });

  it('accepts exact endings from a system-made batch', () => {
    const exact = (newLines: string[], newEndings: Ending[]) => [{ ...insert(1, ...newLines), newEndings }];
    const applied = (content: string, changes: unknown[]) => {
      const result = applyFilePatch(Buffer.from(content), patchOf(changes, true));
      return result.ok && Buffer.from(result.bytes).toString();
    };
    expect(applied('a\n', exact(['x', 'y'], ['\r\n', '']))).toBe('a\nx\r\ny');
    expect(applied('a\nb\n', exact(['x'], ['']))).toBe('a\nx\nb\n');
  });
});

describe('the byte order mark [LINE-4]', () => {
  it('is kept and lies outside line 1', () => {
    expect(apply('\uFEFFa\nb\n', replace(1, ['a'], 'x'))).toBe('\uFEFFx\nb\n');
    expect(apply('\uFEFFa\n', insert(0, 'x'))).toBe('\uFEFFx\na\n');
    expect(apply('\uFEFF', insert(0, 'x'))).toBe('\uFEFFx\n');
  });

  it('stays when all lines are deleted', () => {
    expect(apply('\uFEFFa\nb\n', remove(1, 'a', 'b'))).toBe('\uFEFF');
  });

  it('is not created from a line below that becomes line 1', () => {
    expect(faultsOf('a\n\uFEFFb\n', remove(1, 'a'))).toMatchObject([{ code: 'NOT_TEXT', changeIndex: null }]);
    expect(apply('\uFEFFa\n\uFEFFb\n', remove(1, 'a'))).toBe('\uFEFF\uFEFFb\n');
  });
});

describe('checking against the file', () => {
  it('rejects positions beyond the end with the number of lines, and clamps nothing [LINE-2]', () => {
    expect(faultsOf('a\nb\n', insert(3, 'x'))).toMatchObject([
      { fileIndex: 3, fileKey: 'f', docPath: 'a', changeIndex: 0, code: 'RANGE_BEYOND_END', lineCount: 2 },
    ]);
    expect(faultsOf('a\nb', remove(2, 'b', 'c'))).toMatchObject([{ code: 'RANGE_BEYOND_END', lineCount: 2 }]);
    expect(faultsOf('', remove(1, ''))).toMatchObject([{ code: 'RANGE_BEYOND_END', lineCount: 0 }]);
    expect(faultsOf('a\n', insert(9, 'x'))[0]?.message).toBe(
      'afterLine is 9, but the file has 1 line (allowed: 0 to 1). To append, use afterLine 1.',
    );
  });

  it('reports where a block beyond the end was found', () => {
    expect(faultsOf('a\nb\n', remove(7, 'b'))).toMatchObject([{ lineCount: 2, foundAt: 2 }]);
  });

  it('rejects lines that differ and shows the actual ones, numbered', () => {
    expect(faultsOf('a\nb\nc\nd\n', replace(2, ['b', 'X', 'd'], 'y'))).toMatchObject([
      {
        code: 'LINES_MISMATCH',
        changeIndex: 0,
        firstDifference: 3,
        actualLines: [
          { line: 2, text: 'b' },
          { line: 3, text: 'c' },
          { line: 4, text: 'd' },
        ],
        hint: null,
        foundAt: null,
      },
    ]);
  });

  it('compares exactly: whitespace, case and Unicode form must match [LINE-2]', () => {
    for (const [actual, expected] of [
      ['a ', 'a'],
      ['\ta', '    a'],
      ['A', 'a'],
      ['e\u0301', '\u00e9'],
    ] as const) {
      expect(faultsOf(`${actual}\n`, remove(1, expected))).toMatchObject([{ code: 'LINES_MISMATCH' }]);
    }
  });

  it('reports every fault of the file at once', () => {
    const faults = faultsOf('a\nb\n', remove(1, 'x'), replace(2, ['y'], 'z'), insert(5, 'x'));
    expect(faults.map(({ code, changeIndex }) => [changeIndex, code])).toEqual([
      [0, 'LINES_MISMATCH'],
      [1, 'LINES_MISMATCH'],
      [2, 'RANGE_BEYOND_END'],
    ]);
  });

  it('rejects a patch that leaves the file unchanged', () => {
    expect(faultsOf('a\nb\n', remove(1, 'a'), insert(1, 'a'))).toMatchObject([
      { code: 'NO_CHANGE', changeIndex: null },
    ]);
  });

  it.each([
    ['a NUL byte', Buffer.from('a\0b\n'), /NUL/],
    ['UTF-16', Buffer.from([0xff, 0xfe, 0x61, 0x00]), /UTF-16/],
    ['invalid UTF-8', Buffer.from([0x61, 0xff, 0x0a]), /UTF-8/],
    ['an encoded lone surrogate', Buffer.from([0xed, 0xa0, 0x80]), /UTF-8/],
    ['an overlong form', Buffer.from([0xc0, 0xaf]), /UTF-8/],
  ])('rejects %s as NOT_TEXT [LINE-5]', (_what, bytes, message) => {
    const faults = faultsOf(bytes, insert(0, 'x'));
    expect(faults).toMatchObject([{ code: 'NOT_TEXT', changeIndex: null }]);
    expect(faults[0]?.message).toMatch(message);
  });
});

describe('the report of a mismatch', () => {
  const hintOf = (content: string, ...expected: string[]) =>
    faultsOf(content, remove(1, ...expected))[0]?.hint;

  it.each([
    ['whitespace at the end', 'a  \n', ['a'], /whitespace at the end/],
    ['tabs against spaces', '\ta\n', ['    a'], /start of the line: the file has tabs/],
    ['a no-break space', 'a\u00a0b\n', ['a b'], /only in whitespace/],
    ['Unicode form', 'e\u0301\n', ['\u00e9'], /Unicode form: the file's is decomposed/],
    ['pasted line numbers', 'a\nb\n', ['1: a', '2: b'], /line numbers/],
    ['pasted numbers with a bar', '  a\nb\n', ['  1 |   a', '  2 | b'], /line numbers/],
    ['pasted numbers with a tab', '  a\nb\n', ['     1\t  a', '     2\tb'], /line numbers/],
    ['a byte order mark', '\uFEFFa\n', ['\uFEFFa'], /byte order mark/],
    ['case', 'Foo\n', ['foo'], /upper and lower case/],
  ])('hints at %s', (_what, content, expected, hint) => {
    expect(hintOf(content, ...expected)).toMatch(hint);
  });

  it('gives no hint for lines that simply differ', () => {
    expect(hintOf('a\n', 'b')).toBeNull();
  });

  it('finds the expected block if it occurs exactly once elsewhere', () => {
    const [fault] = faultsOf('x\na\nb\r\na\nc\n', remove(1, 'a', 'b'));
    expect(fault).toMatchObject({ foundAt: 2, message: expect.stringContaining('lines 2 to 3') as string });
    expect(faultsOf('x\na\nb\na\nb\n', remove(1, 'a', 'b'))[0]?.foundAt).toBeNull();
    expect(faultsOf('x\na\na\nb', remove(1, 'a', 'b'))[0]?.foundAt).toBe(3);
  });

  it('cuts a long range around the first difference', () => {
    const lines = Array.from({ length: 500 }, (_, n) => `line ${n + 1}`);
    const wrong = lines.with(299, 'other');
    const [fault] = faultsOf(lines.join('\n'), remove(1, ...wrong));
    expect(fault).toMatchObject({ firstDifference: 300, omittedLines: 450 });
    expect(fault?.actualLines?.[25]).toEqual({ line: 300, text: 'line 300' });
  });

  it('stays cheap when every line of a large file is wrong', () => {
    const count = 100_000;
    const content = 'same\n'.repeat(count);
    const changes = Array.from({ length: count / 10 }, (_, n) =>
      remove(n * 10 + 1, ...Array.from({ length: 9 }, () => 'same'), 'other'),
    );
    const { faults, moreFaults } = checkFilePatch(Buffer.from(content), patchOf(changes));
    expect([faults.length, moreFaults]).toEqual([100, count / 10 - 100]);
  });
});
