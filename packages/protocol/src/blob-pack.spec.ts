import { packBlobs, unpackBlobs } from './blob-pack.js';

describe('a pack of blobs', () => {
  it('returns the packed blobs, including empty ones', () => {
    const blobs = [new Uint8Array([1, 2, 3]), new Uint8Array(), new Uint8Array(70_000).fill(7)];
    expect(unpackBlobs(packBlobs(blobs))).toEqual(blobs);
  });

  it('is empty without blobs', () => {
    expect(packBlobs([])).toHaveLength(0);
    expect(unpackBlobs(new Uint8Array())).toEqual([]);
  });

  it('is rejected if it is truncated anywhere', () => {
    const pack = packBlobs([new Uint8Array([1, 2]), new Uint8Array([3])]);
    const whole = [0, 6, pack.length];
    for (let length = 0; length <= pack.length; length += 1) {
      expect(unpackBlobs(pack.subarray(0, length)) !== null).toBe(whole.includes(length));
    }
  });

  it('is rejected if a length points beyond its end', () => {
    expect(unpackBlobs(new Uint8Array([0xff, 0xff, 0xff, 0xff, 1]))).toBeNull();
  });

  it('is read from the middle of a buffer', () => {
    const pack = packBlobs([new Uint8Array([5])]);
    const inside = new Uint8Array(pack.length + 3);
    inside.set(pack, 3);
    expect(unpackBlobs(inside.subarray(3))).toEqual([new Uint8Array([5])]);
  });
});
