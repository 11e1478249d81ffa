import { createHash } from 'node:crypto';
import { canonicalPieces } from './json-pieces.js';

/** Hashing one long string is several times faster than hashing its pieces. */
const CHUNK = 16_384;

/**
 * The sha256 of a JSON value, independent of key order: equal values have equal digests. Lone surrogates keep their
 * JSON escapes, so that no two strings collide.
 */
export function digestOf(value: unknown): string {
  const hash = createHash('sha256');
  for (const chunk of chunksOf(value)) hash.update(chunk);
  return hash.digest('hex');
}

/** The canonical form of a JSON value, in chunks. */
export function* chunksOf(value: unknown): Generator<string, void, void> {
  let pending = '';
  for (const piece of canonicalPieces(value)) {
    pending += piece;
    if (pending.length < CHUNK) continue;
    yield pending;
    pending = '';
  }
  yield pending;
}
