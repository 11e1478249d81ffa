import { createHash } from 'node:crypto';
import { chunksOf } from './digest.js';
import { yieldIfBusy } from './yield-if-busy.js';

/** `digestOf` a value that may be large, in slices of time, and how many characters its canonical form has. */
export async function digestInSlices(value: unknown): Promise<{ digest: string; chars: number }> {
  const hash = createHash('sha256');
  let chars = 0;
  for (const chunk of chunksOf(value)) {
    // What is short stands in no line behind what is long.
    if (chars > 0) await yieldIfBusy();
    hash.update(chunk);
    chars += chunk.length;
  }
  return { digest: hash.digest('hex'), chars };
}
