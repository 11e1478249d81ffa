import { Digest, isSameDigest } from './digest.js';

const of = (...lines: string[]) => {
  const digest = new Digest();
  lines.forEach((line) => digest.add(line, true));
  return digest.summary;
};

describe('Digest', () => {
  it('does not depend on the order of lines', () => {
    expect(isSameDigest(of('a', 'b'), of('b', 'a'))).toBe(true);
  });

  it('differs if a line is missing, duplicated or changed', () => {
    for (const changed of [of('a'), of('a', 'a'), of('a', 'b', 'b'), of('a', 'c')])
      expect(isSameDigest(changed, of('a', 'b'))).toBe(false);
  });

  it('is 64 hex digits, and zero without lines', () => {
    expect(of().sha256).toBe('0'.repeat(64));
    expect(of('a').sha256).toMatch(/^[0-9a-f]{64}$/);
  });
});
