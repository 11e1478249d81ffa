import fc from 'fast-check';
import { rowsOf, wrapWords } from './fit.js';

describe('text for a terminal', () => {
  it.each([
    ['are left as they are where they fit', 'one two', 7, 'one two'],
    ['go on in the next row where they do not', 'one two three', 7, 'one two\nthree'],
    ['keep the indentation of their line', '  one two', 6, '  one\n    two'],
    ['keep the blanks of a table', 'a    b', 6, 'a    b'],
    ['keep a blank at the end, behind which an answer is typed', 'use it? ', 7, 'use it? '],
    ['count wide characters twice', '日本 日本', 6, '日本\n日本'],
    ['count no colours', '\u001b[1mone two\u001b[22m', 7, '\u001b[1mone two\u001b[22m'],
    ['go on behind one that is longer than a row', 'at /a/long/path now', 8, 'at /a/long/path\nnow'],
    ['stay in one row where nobody has a window', 'one two', Infinity, 'one two'],
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
