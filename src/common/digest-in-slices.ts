import { createHash } from 'node:crypto';
import { chunksOf } from './digest.js';
import { yieldIfBusy } from './yield-if-busy.js';

/** Computes `digestOf` a possibly large value in time slices, with the length of its canonical form in characters. */
export async function digestInSlices(value: unknown): Promise<{ digest: string; chars: number }> {
  const hash = createHash('sha256');
  let chars = 0;
  for (const chunk of chunksOf(value)) {
    // A short value never waits behind a long one.
    if (chars > 0) await yieldIfBusy();
    hash.update(chunk);
    chars += chunk.length;
  }
  return { digest: hash.digest('hex'), chars };
}
