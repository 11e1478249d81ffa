import fc from 'fast-check';
import ignore from 'ignore';
import { ignoreHint } from './ignore-hint.js';

describe('the hint of a .gitignore', () => {
  const hint = (text: string, ignorecase = false) => ignoreHint(text, { ignorecase });

  it('is the longest literal part of each pattern', () => {
    expect(hint('*.log\nnode_modules/\n# comment\n\n!/src/keep.*\r\n').source).toBe(
      '\\.log|node_modules|keep\\.',
    );
  });

  it('matches every path if a pattern has no literal part', () => {
    for (const text of ['*', 'a.log\n?', '[ab]c', '\\#literal'])
      expect(hint(text).test('anything')).toBe(true);
  });

  it('matches no path if there is no pattern', () => {
    expect(hint('\n# comment\n   \n').test('anything')).toBe(false);
  });

  it('matches every path that a rule matches', () => {
    const piece = fc.constantFrom('ab', '**', '\r\n', ...'aB.*?/!#\\[] \t{(+\r\n');
    const text = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''));
    const segment = fc.array(fc.constantFrom('a', 'b', 'B', '.', '#', '!', ' ', '[', '{', '+'), {
      minLength: 1,
      maxLength: 4,
    });
    const name = segment.map((chars) => chars.join('')).filter((chars) => !/^\.\.?$/.test(chars));
    const path = fc.tuple(fc.array(name, { minLength: 1, maxLength: 3 }), fc.boolean());
    let decided = 0;
    fc.assert(
      fc.property(text, path, fc.boolean(), (gitignore, [names, isFolder], ignorecase) => {
        const at = `${names.join('/')}${isFolder ? '/' : ''}`;
        const { ignored, unignored } = ignore({ ignorecase }).add(gitignore).test(at);
        if (!ignored && !unignored) return;
        decided += 1;
        expect(hint(gitignore, ignorecase).test(at)).toBe(true);
      }),
      { numRuns: 5000 },
    );
    expect(decided).toBeGreaterThan(200);
  });
});
