import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A new directory for what a server of the tests keeps; whoever asks for it removes it. */
export function newDataDirectory(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'patchbay-data-'));
}
