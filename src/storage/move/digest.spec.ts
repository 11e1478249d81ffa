import { Digest } from './digest.js';

const of = (...records: object[]): Digest => {
  const digest = new Digest();
  records.forEach((record) => digest.add(record));
  return digest;
};

describe('a digest of records', () => {
  const [one, other] = [
    { id: 'a', part: { x: 1, y: null } },
    { id: 'b', part: { x: 2, y: '' } },
  ];

  it('knows no order, neither of records nor of their names', () => {
    expect(of(one, other).equals(of(other, { part: { y: null, x: 1 }, id: 'a' }))).toBe(true);
  });

  it('notices what is missing, double, or another', () => {
    for (const changed of [of(one), of(one, one), of(one, other, other), of(one, { ...other, id: 'c' })])
      expect(changed.equals(of(one, other))).toBe(false);
    expect(of({ ...one, part: { x: 1, y: '' } }).equals(of(one))).toBe(false);
  });

  it('tells values apart whose names are in another order, as they go to a model', () => {
    const turn = (value: object) => of({ values: [{ arguments: value }] });
    expect(turn({ a: 1, b: 2 }).equals(turn({ b: 2, a: 1 }))).toBe(false);
  });
});
