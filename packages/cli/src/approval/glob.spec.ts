import fc from 'fast-check';
import { escapeGlob, globMatcher, matchesAll, suggestedGlobs } from './glob.js';

const NAMES = [
  '[slug]',
  '(auth)',
  '{1,2}',
  '!(x)',
  '**',
  '*',
  'a*',
  '!a',
  'a\\b',
  ' a b ',
  '@(a)',
  '?',
  'a..b',
  '$a',
  '^',
];

describe('a glob', () => {
  it.each(NAMES)('suggested for the folder %j matches what is below it, and nothing else', (name) => {
    const [glob, ...more] = suggestedGlobs([{ path: `proj/${name}/page.ts` }]);
    expect(more).toEqual([]);
    const matches = globMatcher(glob!);
    expect([matches(`proj/${name}/page.ts`), matches(`proj/${name}/deep/page.ts`)]).toEqual([true, true]);
    for (const other of ['s', '1', 'x', 'auth', 'other', 'aa', 'a', `${name}x`, `x${name}`]) {
      if (other !== name) expect([other, matches(`proj/${other}/page.ts`)]).toEqual([other, false]);
    }
    expect(matches(`proj/${name}`)).toBe(false);
  });

  it('made from any path matches that path alone', () => {
    const name = fc.array(fc.constantFrom(...NAMES, 'b', '.', '-', '|', '+', ',', '"', '#', 'é', '😀'), {
      minLength: 1,
      maxLength: 4,
    });
    const path = fc
      .array(name, { minLength: 1, maxLength: 3 })
      .map((names) => names.map((one) => `n${one.join('')}`).join('/'));
    fc.assert(
      fc.property(path, path, (one, other) => {
        const matches = globMatcher(escapeGlob(one));
        expect([matches(one), matches(other)]).toEqual([true, one === other]);
      }),
    );
  });

  it('is suggested for each folder of a call, and for a file alone if it is hidden or in no folder', () => {
    const files = ['a/x', 'a/y', 'b/.env', 'c'].map((path) => ({ path }));
    expect(suggestedGlobs(files)).toEqual(['a/**', 'b/.env', 'c']);
    expect(
      matchesAll(
        suggestedGlobs(files),
        files.map(({ path }) => path),
      ),
    ).toBe(true);
    expect(matchesAll(suggestedGlobs(files), ['b/.other'])).toBe(false);
  });

  it('matches no call without files, and nothing if it is invalid', () => {
    expect([
      matchesAll(['**'], []),
      matchesAll([''], ['a']),
      matchesAll(['x'.repeat(70_000)], ['a']),
    ]).toEqual([false, false, false]);
  });
});
