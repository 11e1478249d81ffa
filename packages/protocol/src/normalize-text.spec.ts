import { normalizeText } from './normalize-text.js';

const BOM = '\uFEFF';

describe('the text of a created file', () => {
  it.each([
    ['one byte order mark', `${BOM}a`, 'a'],
    ['two', `${BOM}${BOM}a`, 'a'],
    ['only byte order marks', BOM.repeat(3), ''],
  ])('has none if it came with %s in front [CREATE-3]', (_, text, expected) => {
    expect(normalizeText(text)).toBe(expected);
  });

  it('keeps U+FEFF elsewhere as content [CREATE-3]', () => {
    expect(normalizeText(`a${BOM}b\n${BOM}c`)).toBe(`a${BOM}b\n${BOM}c`);
  });

  it('ends its lines with LF [CREATE-3]', () => {
    expect(normalizeText('a\r\nb\rc\n')).toBe('a\nb\nc\n');
  });
});
