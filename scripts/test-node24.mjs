// The test suite, or the specs that are named, on Node 24:  npm run test:node24 [-- test/e2e/backup.spec.ts …]
//
// Node 24 stands first in the PATH, so that whatever a test starts runs on it, too.
import { spawnSync } from 'node:child_process';
import { delimiter, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath, URL } from 'node:url';
import { bin } from './fetch-node24.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Runs a command to its end, in sight of the user; ends this process where it fails. */
function run(command, args, options = {}) {
  const { status, error } = spawnSync(command, args, { stdio: 'inherit', cwd: ROOT, ...options });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

const env = {
  ...process.env,
  PATH: `${bin}${delimiter}${process.env.PATH}`,
  NODE_OPTIONS: '--experimental-vm-modules --no-warnings',
};
run(join(bin, 'node'), ['--version']);
run('npm', ['run', '--silent', 'build'], { env: { ...env, NODE_OPTIONS: '' } });
run(join(bin, 'node'), ['node_modules/jest/bin/jest.js', ...process.argv.slice(2)], { env });
