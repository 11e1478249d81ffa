import { auditPath, pathFields, pathsFields } from './audit-path.js';

describe('auditPath', () => {
  it.each([
    ['/Src/A.ts', 'src/a.ts'],
    ['src/a.ts', 'src/a.ts'],
    ['./Src//A.ts/', 'src/a.ts'],
    ['Src\\A.ts', 'src/a.ts'],
    ['/', '/'],
    ['', ''],
    ['/É.md'.normalize('NFD'), 'é.md'],
    ['../Secret', '../secret'],
    ['C:\\Users\\x', 'c:/users/x'],
    ['a\nb', 'a\uFFFDb'],
    ['\ud800', '\uFFFD'],
    ['x'.repeat(5_000), 'x'.repeat(1_024)],
  ])('maps every spelling to one form: %j', (given, path) => {
    expect(auditPath(given)).toBe(path);
    expect(auditPath(path)).toBe(path);
  });

  it('adds the spelling if it differs from the form', () => {
    expect(pathFields('/src/a.ts')).toEqual({ path: 'src/a.ts' });
    expect(pathFields('/Src/A.ts')).toEqual({ path: 'src/a.ts', displayPath: 'Src/A.ts' });
    expect(pathFields(7)).toEqual({ path: null });
  });

  it('lists a bounded number of paths and counts the others', () => {
    expect(pathsFields(['A', 'b', 7])).toEqual({ paths: ['a', 'b'], morePaths: 1 });
    expect(pathsFields(['A', 'b'])).toEqual({ paths: ['a', 'b'] });
    const many = pathsFields(Array.from({ length: 300 }, (_, at) => `f${at}`));
    expect([many.paths.length, many.morePaths]).toEqual([100, 200]);
    const long = pathsFields(Array.from({ length: 50 }, () => 'x'.repeat(1_000)));
    expect(long.paths.length + long.morePaths!).toBe(50);
    expect(JSON.stringify(long).length).toBeLessThan(10_500);
  });
});
