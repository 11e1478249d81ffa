import { jsonBuffer, JsonText, valueOf } from './json-text.js';

const parts = (...texts: string[]) => new JsonText(texts.map((text) => Buffer.from(text)));

describe('JsonText', () => {
  const large = parts('{"a":', '[1,"é', '😀"]}');
  const value = { a: [1, 'é😀'] };

  it('is inserted unparsed at its place among other values', () => {
    const answer = { first: large, list: ['$&', large, { last: large }], end: 'ü' };
    expect(JSON.parse(jsonBuffer(answer).toString())).toEqual({
      ...{ first: value, list: ['$&', value, { last: value }], end: 'ü' },
    });
    expect(jsonBuffer(large).toString()).toBe('{"a":[1,"é😀"]}');
  });

  it('yields its value to readers and to JSON.stringify', async () => {
    expect(await valueOf(large)).toEqual(value);
    expect(await valueOf('plain')).toBe('plain');
    expect(JSON.parse(JSON.stringify([large]))).toEqual([value]);
  });

  it('leaves values without a text as JSON.stringify writes them', () => {
    const plain = { a: 'ü', b: [null, 1.5, '😀'] };
    expect(jsonBuffer(plain).toString()).toBe(JSON.stringify(plain));
  });
});
