import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { applyFilePatch, parsePatchBatch, unifiedDiff, unifiedDiffBetween } from '../line-patch.js';
import type { FilePatch } from '../patch-batch.js';

const insert = (afterLine: number, ...newLines: string[]) => ({ operation: 'insert', afterLine, newLines });
const remove = (startLine: number, ...lines: string[]) => ({
  operation: 'delete',
  startLine,
  endLine: startLine + lines.length - 1,
  expectedOriginalLines: lines,
});
const replace = (startLine: number, line: string, ...newLines: string[]) => ({
  ...remove(startLine, line),
  operation: 'replace',
  newLines,
});

function patchOf(...changes: unknown[]): FilePatch {
  const result = parsePatchBatch({
    files: [{ docPath: 'dir/a.txt', originalSha256: '0'.repeat(64), changes }],
  });
  if (!result.ok) throw new Error(JSON.stringify(result.faults));
  return result.batch.files[0] as FilePatch;
}

function diffOf(content: string, patch: FilePatch, path = 'dir/a.txt'): string {
  const result = unifiedDiff(Buffer.from(content), patch, path);
  if (!result.ok) throw new Error(JSON.stringify(result.faults));
  return result.diff;
}

describe('the unified diff', () => {
  let dir: string;
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'patchbay-diff-'));
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  /** The file after `git apply`. */
  function gitApplies(diff: string, name: string, content: string): string {
    writeFileSync(join(dir, name), content);
    const git = spawnSync('git', ['apply', '--whitespace=nowarn', '-'], {
      cwd: dir,
      input: diff,
      env: { ...process.env, GIT_CEILING_DIRECTORIES: tmpdir() },
    });
    expect(git.stderr.toString()).toBe('');
    return readFileSync(join(dir, name), 'utf8');
  }

  const numbers = Array.from({ length: 40 }, (_, n) => `${n + 1}\n`).join('');

  it('shows three lines of context and joins close changes', () => {
    expect(diffOf(numbers, patchOf(replace(10, '10', 'ten'), insert(14, 'x'), remove(30, '30')))).toBe(
      'diff --git a/dir/a.txt b/dir/a.txt\n--- a/dir/a.txt\n+++ b/dir/a.txt\n' +
        '@@ -7,11 +7,12 @@\n 7\n 8\n 9\n-10\n+ten\n 11\n 12\n 13\n 14\n+x\n 15\n 16\n 17\n' +
        '@@ -27,7 +28,6 @@\n 27\n 28\n 29\n-30\n 31\n 32\n 33\n',
    );
  });

  it.each([
    [
      'changes all over',
      numbers,
      [insert(0, 'top'), remove(3, '3'), replace(20, '20', 'a', 'b'), insert(40, 'end')],
    ],
    ['CRLF and mixed endings', 'a\r\nb\nc\r\nd\r\n', [replace(2, 'b', 'B', 'BB'), insert(4, 'x')]],
    ['a last line without ending', 'a\nb', [replace(2, 'b', 'x')]],
    ['an append to a last line without ending', 'a\nb', [insert(2, 'x'), insert(2, 'y')]],
    ['an empty line in place of a last line without ending', 'a\nb', [replace(2, 'b', '')]],
    ['an insert into an empty file', '', [insert(0, 'a', 'b')]],
    ['a delete of all lines', 'a\nb', [remove(1, 'a', 'b')]],
    ['an insert below a byte order mark', '\uFEFFa\nb\n', [insert(0, 'x')]],
    ['a replace of line 1 below a byte order mark', '\uFEFFa\nb\n', [replace(1, 'a', 'x')]],
    ['a delete of line 1 below a byte order mark', '\uFEFFa\nb\n', [remove(1, 'a')]],
    ['a delete of all lines below a byte order mark', '\uFEFFa\nb\n', [remove(1, 'a', 'b')]],
    ['an insert into a file that is a byte order mark', '\uFEFF', [insert(0, 'x')]],
    ['a change that changes nothing beside one that does', numbers, [replace(5, '5', '5'), insert(9, 'x')]],
    [
      'an insert beside a replace',
      numbers,
      [insert(4, 'w'), replace(5, '5', 'v'), insert(5, 'x'), remove(6, '6')],
    ],
  ])("makes git apply produce the engine's result: %s", (_what, content, changes) => {
    const patch = patchOf(...changes);
    const applied = applyFilePatch(Buffer.from(content), patch);
    if (!applied.ok) throw new Error(JSON.stringify(applied.faults));
    expect(gitApplies(diffOf(content, patch, 'f.txt'), 'f.txt', content)).toBe(
      Buffer.from(applied.bytes).toString(),
    );
  });

  it.each([
    ...[
      'Capital.TXT',
      'with blank.txt',
      'caf\u00e9.txt',
      'café blank.txt',
      '日本.txt',
      '😀.txt',
      'quo"te.txt',
    ],
    ...[
      'back\\slash.txt',
      'two\nlines.txt',
      '\u0001\u0007\b\t\u000b\f\r\u001b\u007f.txt',
      "it's.txt",
      '$(x) `y`',
      '-x',
    ],
  ])('writes the file name %j as git does', (name) => {
    const diff = diffOf('a\n', patchOf(insert(1, 'b')), name);
    expect(gitApplies(diff, name, 'a\n')).toBe('a\nb\n');
    const repository = mkdtempSync(join(tmpdir(), 'patchbay-names-'));
    const git = (...args: string[]) => spawnSync('git', args, { cwd: repository }).stdout.toString();
    git('init', '-q');
    writeFileSync(join(repository, name), 'a\n');
    git('add', '-A');
    writeFileSync(join(repository, name), 'a\nb\n');
    const titles = (text: string) => text.split('\n').filter((line) => /^(diff|---|\+\+\+) /.test(line));
    expect(titles(diff)).toEqual(titles(git('diff')));
    rmSync(repository, { recursive: true });
  });

  it('can be joined to the diff of a batch', () => {
    writeFileSync(join(dir, 'one'), 'a\n');
    const diffs = ['one', 'two'].map((name) => diffOf('a\n', patchOf(insert(1, 'b')), name));
    expect(gitApplies(diffs.join(''), 'two', 'a\n')).toBe('a\nb\n');
    expect(readFileSync(join(dir, 'one'), 'utf8')).toBe('a\nb\n');
  });

  it.each([
    ['a byte order mark', 'a\n', '\uFEFFa\n'],
    ['endings', 'a\r\nb\n', 'a\nb'],
    ['everything', numbers, 'x\ny'],
  ])('shows the difference of two versions with %s', (_what, before, after) => {
    const diff = unifiedDiffBetween(Buffer.from(before), Buffer.from(after), 'v.txt');
    expect(gitApplies(diff, 'v.txt', before)).toBe(after);
    expect(unifiedDiffBetween(Buffer.from(before), Buffer.from(before), 'v.txt')).toBe('');
  });

  it('reports the faults of a patch that does not apply', () => {
    expect(unifiedDiff(Buffer.from('a\n'), patchOf(remove(1, 'b')), 'a.txt')).toMatchObject({
      ok: false,
      faults: [{ code: 'LINES_MISMATCH' }],
    });
  });
});
