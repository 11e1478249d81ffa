import { createHash } from 'node:crypto';
import { canonicalPieces } from './json-pieces.js';

/** A hash takes a long text at once in a fraction of the time that it takes its pieces. */
const CHUNK = 16_384;

/**
 * sha256 of a JSON value that does not depend on the order of keys: two requests that mean the same have the same digest.
 * Lone surrogates and every other string keep their JSON spelling, so that nothing collides.
 */
export function digestOf(value: unknown): string {
  const hash = createHash('sha256');
  for (const chunk of chunksOf(value)) hash.update(chunk);
  return hash.digest('hex');
}

/** The canonical form of a JSON value, in pieces of some length. */
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
