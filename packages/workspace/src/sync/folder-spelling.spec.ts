import { FolderSpelling } from './folder-spelling.js';
import { sizeText } from './sync-report.js';

describe('the spelling of folders', () => {
  it('is that of the disk, and the file keeps its own', () => {
    const spelling = new FolderSpelling(['Src', 'Src/Lib']);
    expect(spelling.spell('src/lib/New.ts')).toBe('Src/Lib/New.ts');
    expect(spelling.spell('SRC/New.ts')).toBe('Src/New.ts');
    expect(spelling.spell('src.ts')).toBe('src.ts');
  });

  it('prefers the very folder where there are twins', () => {
    const spelling = new FolderSpelling(['a', 'A']);
    expect([spelling.spell('a/x'), spelling.spell('A/x')]).toEqual(['a/x', 'A/x']);
  });

  it('is for a new folder that of the first file in it', () => {
    const spelling = new FolderSpelling([]);
    expect([spelling.spell('New/a'), spelling.spell('new/Sub/b'), spelling.spell('NEW/sub/c')]).toEqual([
      'New/a',
      'New/Sub/b',
      'New/Sub/c',
    ]);
  });
});

describe('a size', () => {
  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [1000, '1.0 kB'],
    [999_949, '999.9 kB'],
    [999_950, '1.0 MB'],
    [104_857_600, '104.9 MB'],
  ])('of %p bytes reads %p', (bytes, text) => {
    expect(sizeText(bytes)).toBe(text);
  });
});
