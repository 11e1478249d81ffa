import { randomFillSync } from 'node:crypto';
import { v7, validate } from 'uuid';

const RANDOM_BYTES = 16;
/** Number of ids per draw of random bytes: one draw costs about as much as the rest of an id. */
const DRAWN_IDS = 256;

const pool = new Uint8Array(RANDOM_BYTES * DRAWN_IDS);
let used = pool.length;
let lastMs = 0;
let sequence = 0;

/** Creates a UUIDv7; ids of one process sort in creation order. */
export function newId(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const random = pool.subarray(used, used + RANDOM_BYTES);
  used += RANDOM_BYTES;
  const now = Date.now();
  if (now > lastMs) {
    lastMs = now;
    // Starts in the lower half of its range, so that it does not overflow within a millisecond.
    sequence = new DataView(random.buffer, random.byteOffset).getUint32(6) >>> 1;
  } else sequence += 1;
  return v7({ msecs: lastMs, seq: sequence, random });
}

export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && validate(value);
}

/** The creation time of a UUIDv7, epoch ms. */
export function timeOf(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}
