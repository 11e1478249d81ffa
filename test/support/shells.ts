import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Shells that tests ask what they complete. */
export type Shell = 'bash' | 'zsh' | 'fish';

/** What a shell offers for a line with the cursor at its end, once it has sourced the script at `path`; sorted. */
export function completionsIn(shell: Shell, path: string, line: string, cwd: string): string[] {
  const { stdout, stderr, status } = spawnSync(shell, ASK[shell](path, line), {
    encoding: 'utf8',
    cwd,
    env: { PATH: process.env.PATH ?? '', HOME: cwd, TERM: 'dumb' },
    timeout: 20_000,
  });
  if (status !== 0) throw new Error(`${shell} ended with ${status}: ${stderr}`);
  return [...new Set(stdout.split('\n').filter((word) => word !== ''))].sort();
}

const ZSH_OFFERS = fileURLToPath(new URL('./zsh-offers.zsh', import.meta.url));

/** Words for a shell that asks it. */
const ASK: Record<Shell, (path: string, line: string) => string[]> = {
  // The function is called as bash calls it.
  bash: (path, line) => {
    const words = line.split(' ').map(quoted);
    const asked = `COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _patchbay`;
    const said = `printf '%s\\n' "\${COMPREPLY[@]}"`;
    return ['--norc', '--noprofile', '-c', `source ${quoted(path)}; ${asked}; ${said}`];
  },
  zsh: (path, line) => ['-f', ZSH_OFFERS, path, line],
  fish: (path, line) => [
    '--no-config',
    '-c',
    `source ${quoted(path)}; complete -C ${quoted(line)} | string split -f1 \\t; true`,
  ],
};

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
