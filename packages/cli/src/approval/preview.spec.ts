import type { PatchChange } from '@patchbay/protocol';
import { changePreview, previewOf } from './preview.js';
import { printable, printableLine } from './printable.js';

describe('printable', () => {
  it('leaves ordinary text, lines and tabs alone', () => {
    expect(printable('naïve 漢字\n\tx')).toBe('naïve 漢字\n\tx');
  });

  it.each([
    ['an ANSI escape', '\u001b[2Jgone', '\\x1b[2Jgone'],
    ['an 8-bit control', '\u009b2J', '\\x9b2J'],
    ['a carriage return that overwrites the line', 'rm -rf\rsafe', 'rm -rf\\x0dsafe'],
    ['a direction override', 'a\u202eb', 'a\\u{202e}b'],
    ['a zero-width space', 'a\u200bb', 'a\\u{200b}b'],
    ['a lone surrogate', 'a\ud800b', 'a\\u{d800}b'],
  ])('makes %s visible', (_name, text, safe) => {
    expect(printable(text)).toBe(safe);
  });

  it('keeps a one-line place on one line', () => {
    expect(printableLine('a\nb')).toBe('a\\x0ab');
  });
});

describe('previewOf', () => {
  it('shows of what is very large the beginning alone, and says so', () => {
    const large = 'b\na\n'.repeat(1_000_000);
    const made = previewOf({ path: 'a', before: null, after: large });
    expect(made.lines).toHaveLength(100_001);
    expect(made.lines.at(-1)).toBe('(1900000 more lines are not shown here)');
    const replaced = previewOf({ path: 'a', before: 'a\n', after: large });
    expect(replaced.title).toBe('overwrite a (2000000 lines, 4,000,000 bytes)');
    expect(replaced.lines[0]).toContain('too large to be compared here');
    const long = previewOf({ path: 'a', before: null, after: '\u202e'.repeat(1_000_000) });
    expect(long.lines[0]).toMatch(/^\+(?:\\u\{202e\}){3999}… \(the line is longer than is shown here\)$/);
  });

  it('shows a new file with its size', () => {
    const { title, lines } = previewOf({ path: 'src/a.ts', before: null, after: 'one\ntwo\n' });
    expect(title).toBe('new file src/a.ts (2 lines, 8 bytes)');
    expect(lines).toEqual(['+one', '+two']);
  });

  it('says of a change in the Cloud what it is, with its lines where it has some', () => {
    const shown = (before: string | null, after: string, does: string) =>
      previewOf({ path: 'a', before, after, does });
    expect(shown('', '', 'delete from the Cloud')).toMatchObject({
      title: 'delete from the Cloud a',
      lines: [],
    });
    const written = shown(null, 'x\n', 'write the Cloud file');
    expect(written).toMatchObject({ title: 'write the Cloud file a (1 line, 2 bytes)', lines: ['+x'] });
    expect(shown('x\n', 'y\n', 'edit the Cloud file').lines).toEqual(['@@ -1,1 +1,1 @@', '-x', '+y']);
  });

  it('says so where the last line has no ending', () => {
    const { lines } = previewOf({ path: 'a', before: null, after: 'x' });
    expect(lines).toEqual(['+x', '\\ No newline at end of file']);
  });

  it('shows a replaced file as a unified diff', () => {
    const file = { path: 'a', before: 'one\ntwo\n', after: 'one\n2\n' };
    const { title, lines } = previewOf(file);
    expect(title).toBe('overwrite a (2 lines, 6 bytes)');
    expect(lines).toEqual(['@@ -1,2 +1,2 @@', ' one', '-two', '+2']);
  });

  it('shows that only the endings of a replaced file change', () => {
    const { lines } = previewOf({ path: 'a', before: 'one\r\ntwo', after: 'one\ntwo\n' });
    expect(lines).toEqual([
      '@@ -1,2 +1,2 @@',
      '-one\\x0d',
      '-two',
      '\\ No newline at end of file',
      '+one',
      '+two',
    ]);
  });

  it('shows a file of very many lines that all change as a diff, and whole', () => {
    const text = (seed: string) => Array.from({ length: 30_000 }, (_, n) => `${seed}${n}\n`).join('');
    const { lines } = previewOf({ path: 'a', before: text('a'), after: text('b') });
    expect(lines).toHaveLength(60_001);
    expect(lines[0]).toBe('@@ -1,30000 +1,30000 @@');
  });

  it('says so where a new file is empty', () => {
    expect(previewOf({ path: 'a', before: null, after: '' }).lines).toEqual(['(empty)']);
  });

  it('says what a file was that cannot be shown', () => {
    const { title } = previewOf({ path: 'a', before: null, hidden: 'binary', after: 'x\n' });
    expect(title).toBe('overwrite a (1 line, 2 bytes), a binary file so far');
  });

  it('lets neither path nor content reach the terminal as they are', () => {
    const { title, lines } = previewOf({ path: 'a\u001b]0;x', before: null, after: '\u001b[31m\n' });
    expect(title + lines.join('')).not.toContain('\u001b');
  });

  it('shows a patch as its diff, without the carriage returns that every line has', () => {
    const diff = [
      'diff --git a/a b/a',
      '--- a/a',
      '+++ b/a',
      '@@ -1,2 +1,2 @@',
      ' one\r',
      '-two\r',
      '+2\u001b[31m\r',
      '',
    ].join('\n');
    const patch = { label: 'Say\nit', diff, changes: [] };
    const { title, lines } = previewOf({ path: 'a', before: '', after: '', patch });
    expect(title).toBe('patch a (0 changes: +1 -1 lines): Say\\x0ait');
    expect(lines).toEqual(['@@ -1,2 +1,2 @@', ' one', '-two', '+2\\x1b[31m']);
  });

  it.each([
    [{ operation: 'insert', afterLine: 3, newLines: ['x', ''] }, 'insert after line 3', ['+x', '+']],
    [
      { operation: 'delete', startLine: 2, endLine: 3, expectedOriginalLines: ['a', 'b'] },
      'delete lines 2 to 3',
      ['-a', '-b'],
    ],
    [
      { operation: 'replace', startLine: 2, endLine: 2, expectedOriginalLines: ['a'], newLines: ['b'] },
      'replace line 2',
      ['-a', '+b'],
    ],
  ] as [PatchChange, string, string[]][])('shows one change by itself: %#', (change, where, expected) => {
    const { title, lines } = changePreview({ ...change, description: 'why' });
    expect([title, lines]).toEqual([`${where}: why`, expected]);
  });
});
