import { Buffer } from 'node:buffer';
import { LineCursor } from './line-cursor.js';

describe('a cursor over the lines of a text', () => {
  // Line feeds are counted in words of four bytes and blocks of 240.
  it.each([1, 3, 4, 59, 80, 97, 240, 241])(
    'is behind the requested line, for lines of %s bytes at any offset in a word',
    (length) => {
      const line = 'x'.repeat(length - 1) + '\n';
      for (const shift of [0, 1, 2, 3]) {
        const bytes = Buffer.from('\n'.repeat(shift) + line.repeat(300)).subarray(shift);
        const found = Array.from({ length: 301 }, (_, number) => {
          const cursor = new LineCursor(bytes, 0);
          return cursor.seek(number) ? cursor.offset : null;
        });
        expect([shift, found]).toEqual([shift, found.map((_, number) => number * length)]);
      }
    },
  );
});
