import { replaceText } from './text-replace.js';

describe('replaceText', () => {
  const MAX = 8 * 1024 * 1024;
  const replaced = (text: string, oldString: string, newString: string, replaceAll = false, max = MAX) => {
    const outcome = replaceText(Buffer.from(text), { oldString, newString, replaceAll }, max);
    return outcome.kind === 'replaced'
      ? { ...outcome, bytes: Buffer.from(outcome.bytes).toString() }
      : outcome;
  };
  const fault = (text: string, oldString: string): string => {
    const outcome = replaced(text, oldString, 'x');
    return outcome.kind === 'refused' ? outcome.fault : outcome.kind;
  };

  it('replaces one occurrence, or all from the top', () => {
    expect(replaced('aéb', 'é', '€')).toMatchObject({ bytes: 'a€b', count: 1 });
    expect(replaced('aaaaa', 'aa', 'b', true)).toMatchObject({ bytes: 'bba', count: 2 });
    expect(replaced('abcabc', 'abc', '', true)).toMatchObject({ bytes: '', count: 2 });
    const long = 'l'.repeat(200);
    expect(replaced(`${long}x${long}`, 'x', long)).toMatchObject({ bytes: long + long + long });
  });

  it('counts overlapping occurrences as ambiguous', () => {
    expect(fault('aaa', 'aa')).toMatch('2 times');
    expect(fault('a'.repeat(2_000), 'aa')).toMatch('more than 1000 times');
  });

  it('names another form in which the string occurs, except for strings that are slow to normalize', () => {
    expect(fault('a\r\nb', 'a\nb')).toMatch('\\r\\n');
    expect(fault('caf\u00e9', 'cafe\u0301')).toMatch('another Unicode form');
    expect(fault('abc', '\u0315\u0300'.repeat(1_000_000))).toBe('is not in the file');
  });

  it('refuses an oversized result before building it', () => {
    expect(replaced('aaaa', 'a', 'bb', true, 7)).toEqual({ kind: 'too_large', sizeBytes: 8 });
  });

  it('takes linear time for adversarial strings and texts [TOOL-5]', () => {
    const text = 'a'.repeat(8_000_000);
    const needle = `${'a'.repeat(30_000)}b${'a'.repeat(30_000)}`;
    expect(fault(text, needle)).toBe('is not in the file');
    expect(replaced(text, 'a', 'b', true)).toMatchObject({ count: 8_000_000 });
  });
});
