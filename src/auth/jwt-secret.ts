import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config/config.js';

const FILE = 'jwt-secret';

/** The configured secret; outside production, one that is generated once and stored in the data directory. */
export async function jwtSecret({ jwtSecret: configured, dataDir }: Config): Promise<string> {
  if (configured !== null) return configured;
  const path = join(dataDir, FILE);
  await mkdir(dataDir, { recursive: true });
  try {
    await writeFile(path, randomBytes(48).toString('base64url'), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  // A copied file may be readable by others.
  if (((await stat(path)).mode & 0o077) !== 0) await chmod(path, 0o600);
  const secret = await readFile(path, 'utf8');
  if (secret.length < 32) throw new Error(`${path} is damaged; remove it to have a new secret made`);
  return secret;
}
