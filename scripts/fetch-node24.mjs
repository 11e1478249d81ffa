// Fetches Node 24 once, from npm's `node` packages into the user's cache folder; who imports this gets its folder.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';

const MAJOR = 24;
const folder = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), `patchbay-node${MAJOR}`);
const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;

/** Where its `node` is. */
export const bin = join(folder, 'node_modules', name, 'bin');

if (!existsSync(bin)) {
  mkdirSync(folder, { recursive: true });
  const args = ['install', '--prefix', folder, '--no-audit', '--no-fund', `${name}@${MAJOR}`];
  const { status, error } = spawnSync('npm', args, { stdio: 'inherit' });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}
