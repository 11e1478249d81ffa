import { jsonBuffer, JsonText, valueOf } from './json-text.js';

const parts = (...texts: string[]) => new JsonText(texts.map((text) => Buffer.from(text)));

describe('a large value as its text', () => {
  const large = parts('{"a":', '[1,"é', '😀"]}');
  const value = { a: [1, 'é😀'] };

  it('is written where it stands, between all that is beside it', () => {
    const answer = { first: large, list: ['$&', large, { last: large }], end: 'ü' };
    expect(JSON.parse(jsonBuffer(answer).toString())).toEqual({
      ...{ first: value, list: ['$&', value, { last: value }], end: 'ü' },
    });
    expect(jsonBuffer(large).toString()).toBe('{"a":[1,"é😀"]}');
  });

  it('is its value for whoever reads it, and for any other JSON', async () => {
    expect(await valueOf(large)).toEqual(value);
    expect(await valueOf('plain')).toBe('plain');
    expect(JSON.parse(JSON.stringify([large]))).toEqual([value]);
  });

  it('leaves what holds none as JSON.stringify has it', () => {
    const plain = { a: 'ü', b: [null, 1.5, '😀'] };
    expect(jsonBuffer(plain).toString()).toBe(JSON.stringify(plain));
  });
});
