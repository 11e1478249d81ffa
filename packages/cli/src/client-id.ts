import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256 } from '@patchbay/protocol/hash';

/**
 * The clientId of this home and these folders: stable across starts, and different for other folders, so that two
 * projects of one user do not replace each other.
 */
export async function clientIdOf(home: string, directories: readonly string[]): Promise<string> {
  const installation = await installationId(home);
  return `cli-${sha256(JSON.stringify([installation, [...directories].sort()])).slice(0, 32)}`;
}

async function installationId(home: string): Promise<string> {
  const file = join(home, 'installation');
  await mkdir(home, { recursive: true, mode: 0o700 });
  const mine = `${file}.${randomUUID()}`;
  await writeFile(mine, randomUUID(), { mode: 0o600, flag: 'wx' });
  try {
    // A link fails if the file exists: two first starts at once both use the id of one.
    await link(mine, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(mine, { force: true });
  }
  return (await readFile(file, 'utf8')).trim();
}
