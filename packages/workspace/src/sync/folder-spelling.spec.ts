import { FolderSpelling } from './folder-spelling.js';
import { sizeText } from './sync-report.js';

describe('the local spelling of folders', () => {
  it('is used for existing folders, while the file keeps its name', () => {
    const spelling = new FolderSpelling(['Src', 'Src/Lib']);
    expect(spelling.spell('src/lib/New.ts')).toBe('Src/Lib/New.ts');
    expect(spelling.spell('SRC/New.ts')).toBe('Src/New.ts');
    expect(spelling.spell('src.ts')).toBe('src.ts');
  });

  it('prefers the exact folder if two differ by case', () => {
    const spelling = new FolderSpelling(['a', 'A']);
    expect([spelling.spell('a/x'), spelling.spell('A/x')]).toEqual(['a/x', 'A/x']);
  });

  it('of a new folder is that of its first file', () => {
    const spelling = new FolderSpelling([]);
    expect([spelling.spell('New/a'), spelling.spell('new/Sub/b'), spelling.spell('NEW/sub/c')]).toEqual([
      'New/a',
      'New/Sub/b',
      'New/Sub/c',
    ]);
  });
});

describe('sizeText', () => {
  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [1000, '1.0 kB'],
    [999_949, '999.9 kB'],
    [999_950, '1.0 MB'],
    [104_857_600, '104.9 MB'],
  ])('formats %p bytes as %p', (bytes, text) => {
    expect(sizeText(bytes)).toBe(text);
  });
});
