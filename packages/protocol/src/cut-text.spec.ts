import fc from 'fast-check';
import { cutText, isWellFormedJson, shortText, strictJson, textBetween, wellFormedJson } from './cut-text.js';

describe('a cut text', () => {
  it('never ends in half of a surrogate pair', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(20), fc.nat(20), (text, from, length) => {
        const part = textBetween(text, from, from + length);
        expect(part.isWellFormed()).toBe(true);
        expect(part.length).toBeLessThanOrEqual(length);
        if (text.isWellFormed()) expect(text).toContain(part);
      }),
    );
  });

  it.each([
    ['ab', 5, 'ab', 'ab'],
    ['abc', 2, 'ab', 'ab…'],
    ['a😀b', 2, 'a', 'a…'],
    ['a😀b', 3, 'a😀', 'a😀…'],
    ['😀', 1, '', '…'],
    ['a\ud83d', 9, 'a\ufffd', 'a\ufffd'],
    ['', 0, '', ''],
  ])('of %j, %d units, is %j', (text, most, cut, short) => {
    expect([cutText(text, most), shortText(text, most)]).toEqual([cut, short]);
  });

  it('omits half a character at its beginning too', () => {
    expect(textBetween('😀ab😀', 1, 5)).toBe('ab');
  });
});

describe('JSON for strict readers', () => {
  it.each([
    ['a\ud83d', '"a\ufffd"'],
    ['\udc00\ud800', '"\ufffd\ufffd"'],
    ['\\ud83d', String.raw`"\\ud83d"`],
    ['\\\ud83d', '"\\\\\ufffd"'],
    ['😀', '"😀"'],
    [{ '\ud83d': ['\ud83d'] }, '{"\ufffd":["\ufffd"]}'],
    [{ a: undefined }, '{}'],
  ])('of %j is %s', (value, json) => {
    expect(strictJson(value)).toBe(json);
  });

  it('equals JSON.stringify for well-formed text', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const value = wellFormedJson(JSON.parse(text) as unknown);
        expect(strictJson(value)).toBe(JSON.stringify(value));
      }),
    );
  });

  it('changes only values with malformed text', () => {
    const sound = { a: ['😀', 1, null, true, {}] };
    expect(wellFormedJson(sound)).toBe(sound);
    const value = JSON.parse('{"a":["\\ud83d",1],"__proto__":{"\\udc00":null}}') as object;
    expect(isWellFormedJson(value)).toBe(false);
    expect(JSON.stringify(wellFormedJson(value))).toBe('{"a":["\ufffd",1],"__proto__":{"\ufffd":null}}');
  });
});
