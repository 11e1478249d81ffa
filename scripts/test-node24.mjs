// The test suite, or the specs that are named, on Node 24:  npm run test:node24 [-- test/e2e/backup.spec.ts …]
//
// The binary is that of npm's `node` packages, fetched once into the user's cache folder. It stands first in the PATH, so
// that whatever a test starts runs on it, too.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath, URL } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const MAJOR = 24;

/** Runs a command to its end, in sight of the user; ends this process where it fails. */
function run(command, args, options = {}) {
  const { status, error } = spawnSync(command, args, { stdio: 'inherit', cwd: ROOT, ...options });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

/** The folder with the binary, which is fetched where it is missing. */
function binaries() {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  const folder = join(cache, `patchbay-node${MAJOR}`);
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  const bin = join(folder, 'node_modules', name, 'bin');
  if (!existsSync(bin)) {
    mkdirSync(folder, { recursive: true });
    run('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', `${name}@${MAJOR}`]);
  }
  return bin;
}

const bin = binaries();
const env = {
  ...process.env,
  PATH: `${bin}${delimiter}${process.env.PATH}`,
  NODE_OPTIONS: '--experimental-vm-modules --no-warnings',
};
run(join(bin, 'node'), ['--version']);
run('npm', ['run', '--silent', 'build'], { env: { ...env, NODE_OPTIONS: '' } });
run(join(bin, 'node'), ['node_modules/jest/bin/jest.js', ...process.argv.slice(2)], { env });
