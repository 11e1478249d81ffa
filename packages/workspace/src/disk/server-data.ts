import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Marks the data directory of a server, which also holds secrets. */
export const DATABASE_FILE = 'patchbay.db';
const SKIPPED_FOLDERS = new Set(['.git', 'node_modules']);
/** A server started in a project keeps its data near the top. These bounds keep the search fast in large projects. */
const MAX_DEPTH = 3;
const MAX_FOLDERS = 2_000;

/**
 * Returns the data directories of Patchbay servers in these folders. A call that reached one could grant itself
 * anything.
 */
export async function serverDataIn(directories: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  let level = [...directories];
  let visited = 0;
  for (let depth = 0; depth <= MAX_DEPTH && level.length > 0; depth++) {
    const deeper: string[] = [];
    for (const directory of level.slice(0, MAX_FOLDERS - visited)) {
      const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
      const isData = entries.some((entry) => entry.isFile() && entry.name === DATABASE_FILE);
      if (isData) found.push(directory);
      const folders = entries.filter((entry) => entry.isDirectory() && !SKIPPED_FOLDERS.has(entry.name));
      if (!isData) deeper.push(...folders.map(({ name }) => join(directory, name)));
      visited++;
    }
    level = deeper;
  }
  return found;
}
