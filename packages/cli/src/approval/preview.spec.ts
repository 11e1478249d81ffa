import fc from 'fast-check';
import type { PatchChange } from '@patchbay/protocol';
import { differencesOf } from './line-differences.js';
import { changePreview, previewOf } from './preview.js';

describe('previewOf', () => {
  it('shows all of a very large change without comparing its lines', () => {
    const large = 'b\na\n'.repeat(500_000);
    expect(previewOf({ path: 'a', before: null, after: large }).lines).toHaveLength(1_000_000);
    const replaced = previewOf({ path: 'a', before: `a\n${large}`, after: `${large}c\n` });
    expect(replaced.lines[0]).toContain('too large to compare');
    expect(replaced.lines).toHaveLength(2_000_003);
    const long = previewOf({ path: 'a', before: null, after: `${'x'.repeat(1_000_000)}end` });
    expect(long.lines[0]).toMatch(/^\+x+end$/);
  });

  describe('of long lines', () => {
    const text = (...words: string[]) => words.join('same '.repeat(1_000));
    const shown = (before: string, after: string) =>
      previewOf({ path: 'a', before: `${before}\n`, after: `${after}\n` });

    it('shows each difference with its surroundings and its position', () => {
      const { lines, whole } = shown(text('first ', 'x', ' last'), text('First ', 'y', ' LAST'));
      const signs = lines.map((line) => line[0]).join('');
      expect(signs).toBe('@@-+@-+@-+');
      const all = lines.join('\n');
      for (const word of ['first', 'First', 'x', 'y', 'last', 'LAST']) expect(all).toContain(word);
      expect(lines[4]).toBe('@ characters 4,961-5,057 of 10,012, now 4,961-5,057 of 10,012');
      expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(200);
      expect(whole().slice(-2)).toEqual([
        `-${text('first ', 'x', ' last')}`,
        `+${text('First ', 'y', ' LAST')}`,
      ]);
    });

    it('splits a long difference into pages, and cuts none of it', () => {
      const [before, after] = ['a', 'b'].map((letter) => `start ${`${letter}${letter} `.repeat(1_000)}`);
      const { lines } = shown(before!, after!);
      const of = (sign: string) => lines.filter((line) => line.startsWith(sign)).map((line) => line.slice(1));
      expect(of('+').join('')).toBe(after);
      expect(of('-').join('')).toBe(before);
      expect(of('@').length).toBeGreaterThan(5);
    });

    it('cuts unchanged lines, and keeps the change in the window', () => {
      const stays = 'stays '.repeat(500);
      const { lines } = previewOf({ path: 'a', before: `${stays}\nold\n`, after: `${stays}\nnew\n` });
      expect(lines[1]).toMatch(/^ stays .{100,150} \(and 2,881 more characters that stay\)$/);
      expect(lines.slice(2)).toEqual(['-old', '+new']);
    });

    it('shows every character that differs', () => {
      const words = fc.array(fc.constantFrom('a', 'b ', 'word ', '😀', '  ', ';', 'é'), {
        minLength: 100,
        maxLength: 400,
      });
      fc.assert(
        fc.property(words, words, fc.nat(300), (some, others, at) => {
          const [before, after] = [
            some.join(''),
            [...some.slice(0, at), ...others.slice(0, 3), ...some.slice(at)].join(''),
          ];
          const { old, fresh } = rebuilt(before, after);
          expect([old, fresh]).toEqual([before, after]);
        }),
      );
    });

    /** Rebuilds both texts from the differences and from what the other side has between them. */
    function rebuilt(before: string, after: string): { old: string; fresh: string } {
      let [old, fresh, a, b] = ['', '', 0, 0];
      for (const {
        old: [aFrom, aTo],
        fresh: [bFrom, bTo],
      } of differencesOf(before, after)) {
        old += after.slice(b, bFrom) + before.slice(aFrom, aTo);
        fresh += before.slice(a, aFrom) + after.slice(bFrom, bTo);
        [a, b] = [aTo, bTo];
      }
      return { old: old + after.slice(b), fresh: fresh + before.slice(a) };
    }
  });

  it.each([
    ['a tab for blanks', '\tx', '        x', ['-\\x09x', '+        x']],
    ['a no-break space', 'a b', 'a\u00a0b', ['-a b', '+a\\xa0b']],
    ['a blank at the end', 'a', 'a ', ['-a', '+a\\x20']],
    ['another form of a letter', '\u00e9', 'e\u0301', ['-\\xe9', '+e\\u{301}']],
    ['a character for its code', 'a\\x1b', 'a\u001b', ['-a\\x5cx1b', '+a\\x1b']],
  ])('shows two different lines differently: %s', (_what, before, after, expected) => {
    const { lines } = previewOf({ path: 'a', before: `${before}\n`, after: `${after}\n` });
    expect(lines.slice(1)).toEqual(expected);
  });

  it('shows a new file with its size', () => {
    const { title, lines } = previewOf({ path: 'src/a.ts', before: null, after: 'one\ntwo\n' });
    expect(title).toBe('new file src/a.ts (2 lines, 8 bytes)');
    expect(lines).toEqual(['+one', '+two']);
  });

  it('describes a change in the Cloud, with its lines if it has some', () => {
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

  it('says that the last line has no ending', () => {
    const { lines } = previewOf({ path: 'a', before: null, after: 'x' });
    expect(lines).toEqual(['+x', '\\ No newline at end of file']);
  });

  it('shows a replaced file as a unified diff', () => {
    const file = { path: 'a', before: 'one\ntwo\n', after: 'one\n2\n' };
    const { title, lines } = previewOf(file);
    expect(title).toBe('overwrite a (2 lines, 6 bytes)');
    expect(lines).toEqual(['@@ -1,2 +1,2 @@', ' one', '-two', '+2']);
  });

  it('shows that only the line endings of a replaced file change', () => {
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

  it('shows a file with very many changed lines as a diff, and completely', () => {
    const text = (seed: string) => Array.from({ length: 30_000 }, (_, n) => `${seed}${n}\n`).join('');
    const { lines } = previewOf({ path: 'a', before: text('a'), after: text('b') });
    expect(lines).toHaveLength(60_001);
    expect(lines[0]).toBe('@@ -1,30000 +1,30000 @@');
  });

  it('says that a new file is empty', () => {
    expect(previewOf({ path: 'a', before: null, after: '' }).lines).toEqual(['(empty)']);
  });

  it('describes a replaced file that cannot be shown', () => {
    const { title } = previewOf({ path: 'a', before: null, hidden: 'binary', after: 'x\n' });
    expect(title).toBe('overwrite a (1 line, 2 bytes), now a binary file');
  });

  it('escapes path and content for the terminal', () => {
    const { title, lines } = previewOf({ path: 'a\u001b]0;x', before: null, after: '\u001b[31m\n' });
    expect(title + lines.join('')).not.toContain('\u001b');
  });

  it('shows a patch as a diff, without carriage returns that every line has', () => {
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

  it('shows the carriage returns of a patch if not every line has one', () => {
    const diff = ['@@ -1,2 +1,2 @@', ' one', '-two\r', '+two', ''].join('\n');
    const { lines } = previewOf({
      path: 'a',
      before: '',
      after: '',
      patch: { label: null, diff, changes: [] },
    });
    expect(lines).toEqual(['@@ -1,2 +1,2 @@', ' one', '-two\\x0d', '+two']);
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
  ] as [PatchChange, string, string[]][])('shows a single change: %#', (change, where, expected) => {
    const { title, lines } = changePreview({ ...change, description: 'why' });
    expect([title, lines]).toEqual([`${where}: why`, expected]);
  });
});
