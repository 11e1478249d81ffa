import { fileReadMs } from './file-read-time.js';

describe('the time for a client to return a file', () => {
  const MIB = 1024 * 1024;

  it.each([
    [1, 5_000],
    [MIB, 6_000],
    [8 * MIB, 13_000],
    [10 * MIB, 15_000],
    [512 * MIB, 15_000],
  ])('of up to %d bytes is %d ms [RELAY-23]', (maxBytes, ms) => {
    expect(fileReadMs({ fileReadMs: 5_000 }, maxBytes)).toBe(ms);
  });

  it('starts at the configured value', () => {
    expect([1, 2 * MIB].map((maxBytes) => fileReadMs({ fileReadMs: 500 }, maxBytes))).toEqual([500, 2_500]);
  });
});
