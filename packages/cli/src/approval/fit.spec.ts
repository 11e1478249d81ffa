import fc from 'fast-check';
import { rowsOf, wrapWords } from './fit.js';

describe('wrapping words for a terminal', () => {
  it.each([
    ['keeps text that fits', 'one two', 7, 'one two'],
    ['continues in the next row otherwise', 'one two three', 7, 'one two\nthree'],
    ['keeps the indentation of a line', '  one two', 6, '  one\n    two'],
    ['keeps the blanks of a table', 'a    b', 6, 'a    b'],
    ['keeps a trailing blank, after which an answer is typed', 'use it? ', 7, 'use it? '],
    ['counts wide characters twice', '日本 日本', 6, '日本\n日本'],
    ['ignores colours', '\u001b[1mone two\u001b[22m', 7, '\u001b[1mone two\u001b[22m'],
    ['continues after a word longer than a row', 'at /a/long/path now', 8, 'at /a/long/path\nnow'],
    ['stays in one row without a window', 'one two', Infinity, 'one two'],
  ])('%s', (_what, text, columns, wrapped) => {
    expect(wrapWords(text, columns)).toBe(wrapped);
  });

  it('keeps words and their order, and breaks no word that fits into a row', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', '日'), minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(fc.array(word), fc.integer({ min: 24, max: 60 }), (words, columns) => {
        const rows = wrapWords(words.join(' '), columns).split('\n');
        expect(rows.join(' ')).toBe(words.join(' '));
        for (const row of rows) expect(rowsOf(row, columns)).toBe(1);
      }),
    );
  });
});
