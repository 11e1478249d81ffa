import { docPathFault, foldCase, isStreamSafe, MAX_PATH_CHARS, unfoldableFault } from './doc-path.js';

describe('a path before normalisation', () => {
  it('is rejected if it is far too long or has a long run of combining marks [FILE-1]', () => {
    // Normalising either of them would take minutes.
    expect(unfoldableFault('\u0315\u0300'.repeat(5_000_000))).toMatch(`${MAX_PATH_CHARS} characters`);
    expect(unfoldableFault(`a${'\u0315'.repeat(31)}`)).toMatch('combining marks');
    expect(unfoldableFault(`a${'\u0315'.repeat(30)}`)).toBeNull();
    expect(docPathFault('\u0315\u0300'.repeat(5_000_000))).toMatch(`${MAX_PATH_CHARS} characters`);
    expect(isStreamSafe(`${'a\u0315'.repeat(1_000)}`)).toBe(true);
    // Each of these marks is two UTF-16 units.
    expect(isStreamSafe(`a${'\u{1d165}'.repeat(30)}b`.repeat(2))).toBe(true);
    expect(isStreamSafe(`ab${'\u{1d165}'.repeat(31)}`)).toBe(false);
  });

  it('may exceed the limit by the length of its decomposed form', () => {
    const composed = '\u1f82'.repeat(MAX_PATH_CHARS);
    expect(unfoldableFault(composed.normalize('NFD'))).toBeNull();
    expect(foldCase(composed.normalize('NFD'))).toBe(composed);
  });

  it('in ASCII is only lowercased', () => {
    expect(foldCase('Repo/A b~{}.TS')).toBe('repo/a b~{}.ts');
  });
});
