// node scripts/fetch-node.mjs <version>…: fetches these versions of Node from npm into the user's cache directory.
//
// They lie outside of the project: npm puts every node_modules/.bin above the working directory first in the PATH, and a
// Node there would replace the one that was chosen.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const PACKAGE = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
const CACHE = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'patchbay-node');

/** The directory of a version's `node`, such as `24` or `20.19`; it is there once `fetchNode` has returned. */
export const nodeDirectory = (version) => join(CACHE, version, 'node_modules', PACKAGE, 'bin');

/** Fetches the newest release of a version, unless one was fetched before. Throws where npm fails. */
export function fetchNode(version) {
  const directory = nodeDirectory(version);
  if (existsSync(directory)) return directory;
  const prefix = join(CACHE, version);
  mkdirSync(prefix, { recursive: true });
  const args = ['install', '--prefix', prefix, '--no-audit', '--no-fund', `${PACKAGE}@${version}`];
  const { status, error } = spawnSync('npm', args, { stdio: 'inherit', shell: process.platform === 'win32' });
  if (error) throw error;
  if (status !== 0) throw new Error(`npm could not install ${PACKAGE}@${version}.`);
  return directory;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.argv.slice(2).forEach(fetchNode);
