import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { nodeDirectory } from '../../scripts/fetch-node.mjs';

const { CI } = process.env;

/** Node 24, where scripts/fetch-node.mjs puts it. */
export const NODE_24 = join(nodeDirectory('24'), 'node');

/** Tells where a browser engine is: one of Debian's packages, the smaller one first. */
export const FIND_BROWSER = [
  'sh',
  '-c',
  'command -v chromium-headless-shell || command -v chromium',
] as const;

/** Sets and shows a file's extended attributes and access list. */
export const ATTRIBUTES = join(import.meta.dirname, 'attributes.py');

/** Where `.ci/run` installs the packages of examples/python-editor. */
export const EXAMPLE_PYTHON = join(import.meta.dirname, '../../node_modules/.cache/python-editor/bin/python');

/** What tests need beside the Node that runs them, each with a call of it that ends with 0 where it is there. */
const PROBES = {
  // With openssl, which makes its certificate.
  nginx: ['sh', '-c', 'nginx -v && openssl version'],
  caddy: ['caddy', 'version'],
  'redis-server': ['redis-server', '--version'],
  mount: [
    'sh',
    '-c',
    'test "$(id -u)" = 0 && d=$(mktemp -d) && mount -t tmpfs none "$d" && umount "$d" && rmdir "$d"',
  ],
  'docker-compose': ['docker-compose', 'version'],
  'systemd-analyze': ['systemd-analyze', '--version'],
  bash: ['bash', '--version'],
  zsh: ['zsh', '--version'],
  fish: ['fish', '--version'],
  'python3 with its pty module': ['python3', '-c', 'import pty, termios'],
  'a disk with extended attributes and access lists, and python3': ['python3', ATTRIBUTES, 'probe', tmpdir()],
  'a browser engine': FIND_BROWSER,
  'a venv of examples/python-editor/requirements.txt in node_modules/.cache/python-editor': [
    EXAMPLE_PYTHON,
    ...['-c', 'import requests, socketio, websocket'],
  ],
  'Node 24 (node scripts/fetch-node.mjs 24)': [NODE_24, '--version'],
} as const;

type SystemCommand = keyof typeof PROBES;

/** Those that `.ci/run` does not install: there, too, their tests may be left out. */
const NOT_IN_CI: ReadonlySet<SystemCommand> = new Set(['caddy', 'docker-compose', 'systemd-analyze']);

/**
 * Like `describe`, of tests that need something of the system. Where it is missing they are left out, and loudly; in
 * CI that fails.
 */
export function describeWith(command: SystemCommand, name: string, tests: () => void): void {
  const [file, ...args] = PROBES[command];
  if (spawnSync(file, args, { stdio: 'ignore' }).status === 0) return describe(name, tests);
  const missing = `SKIPPED: ${name}: it needs ${command}.`;
  if (CI === 'true' && !NOT_IN_CI.has(command)) {
    describe(name, () => it(`has ${command}`, () => expect(missing).toBe('')));
    return;
  }
  process.stderr.write(`\n${missing}\n`);
  describe.skip(name, tests);
}
