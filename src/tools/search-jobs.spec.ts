import { SearchClock } from './file-search.js';
import {
  isQuicklyCompiled,
  MATCH_PATHS,
  SEARCH_LINES,
  searchLoad,
  type SearchSlice,
  START,
} from './search-jobs.js';

const expression = { pattern: 'needle', literal: false, ignoreCase: false };
const long = `${'x'.repeat(9_000)}needle`;
const files = ['needle\nhay\nneedle', long, 'hay', `${long}\n${long}\nneedle`].map((text, index) => ({
  path: `/${index}`,
  bytes: Buffer.from(text),
}));

describe('a search in slices', () => {
  it('limits each job to 250 ms, so that others get their turn', () => {
    expect(new SearchClock({ searchMs: 5_000, jobMs: 5_000 }, undefined).left()).toBeLessThanOrEqual(250);
  });

  it('stops at the configured time limit', () => {
    expect(new SearchClock({ searchMs: 100, jobMs: 5_000 }, undefined).left()).toBeLessThanOrEqual(100);
  });

  it('finds the same with any slice length, each continuing where the last one ended', () => {
    const whole = SEARCH_LINES.run({ expression, files, from: START, limit: 99, ms: 60_000 });
    const matches: unknown[] = [];
    let [rest, filesSearched, slices]: [SearchSlice['rest'], number, number] = [
      { file: 0, from: START },
      0,
      0,
    ];
    let left = files;
    while (rest !== null) {
      left = left.slice(rest.file);
      const { from } = rest;
      const slice = SEARCH_LINES.run({ expression, files: left, from, limit: 99, ms: 0 });
      matches.push(...slice.matches);
      filesSearched += slice.filesSearched;
      rest = slice.rest;
      slices += 1;
    }
    expect(matches).toHaveLength(6);
    expect({ matches, filesSearched }).toEqual({
      matches: whole.matches,
      filesSearched: whole.filesSearched,
    });
    expect(slices).toBeGreaterThan(20);
  });

  it('matches at least one path per slice', () => {
    expect(MATCH_PATHS.run({ glob: '*', paths: ['a', 'b'], ms: 0 })).toEqual({ fitting: [0], checked: 1 });
  });

  it.each([
    '[B-\u{1ffff}]'.repeat(16),
    '(?i)[B-\u{1ffff}]',
    '[B-\\x{1ffff}]',
    '[ -\\777]',
    '\\pL',
    '[[:^ascii:]]',
    'a{2}',
    'é',
    'a'.repeat(101),
  ])('compiles %p only on a worker, however little there is to search', (pattern) => {
    const wanted = { pattern, literal: false, ignoreCase: true };
    expect(isQuicklyCompiled(wanted)).toBe(false);
    expect(searchLoad(wanted, 0).bytes).toBeGreaterThan(SEARCH_LINES.inlineBytes);
  });

  it.each(['needle', '(a|b|ab)*c$', '^import .* from', '\\bfoo\\(', '[a-z]+'])(
    'compiles %p inline',
    (pattern) => expect(isQuicklyCompiled({ pattern, literal: false, ignoreCase: true })).toBe(true),
  );
});
