import { spawnSync } from 'node:child_process';

/** What tests need beside Node, each with a call of it that ends with 0 where it is there. */
const PROBES = {
  nginx: ['nginx', '-v'],
  caddy: ['caddy', 'version'],
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
} as const;

export type SystemCommand = keyof typeof PROBES;

/** Those that `.ci/run` installs, so that CI may not leave their tests out. */
const IN_CI: ReadonlySet<SystemCommand> = new Set(['nginx', 'mount', 'bash', 'zsh', 'fish']);

/**
 * Like `describe`, of tests that need a command of the system. Where it is missing they are left out, and loudly; in
 * CI that fails.
 */
export function describeWith(command: SystemCommand, name: string, tests: () => void): void {
  const [file, ...args] = PROBES[command];
  if (spawnSync(file, args, { stdio: 'ignore' }).status === 0) return describe(name, tests);
  const missing = `SKIPPED: ${name}: it needs ${command}.`;
  if (process.env.CI === 'true' && IN_CI.has(command)) {
    describe(name, () => it(`has ${command}`, () => expect(missing).toBe('')));
    return;
  }
  process.stderr.write(`\n${missing}\n`);
  describe.skip(name, tests);
}
