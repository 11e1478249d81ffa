import { spawn } from 'node:child_process';

/** A command as a variable of the environment names it: `less`, `code --wait`, or something for a shell. */
interface Command {
  /** What the variable says. */
  command: string;
  args?: readonly string[];
  env?: NodeJS.ProcessEnv;
  /** Written to its standard input; without it the input is the terminal's. */
  text?: string;
  signal?: AbortSignal;
}

/** Nothing that a shell would take for something else than a word. */
const PLAIN = /^[\w@%+=:,./\\ -]+$/;

/**
 * Runs a command that has the terminal for as long as it runs; its Ctrl-C is its own. Without a shell where the command
 * is plain words, through one where it is more, as git does it; arguments are never a part of what the shell reads.
 * @returns its exit code @throws Error where it can't be started, or ended by a signal
 */
export function runProgram({
  command,
  args = [],
  env = process.env,
  text,
  signal,
}: Command): Promise<number> {
  const [program, ...words] = inWords(command, args);
  const stop = ignoreInterrupts();
  const ended = new Promise<number>((resolve, reject) => {
    const child = spawn(program!, words, {
      env,
      stdio: [text === undefined ? 'inherit' : 'pipe', 'inherit', 'inherit'],
      ...(signal && { signal }),
    });
    child.once('error', reject);
    child.once('exit', (code, name) =>
      code === null ? reject(new Error(`"${command}" was ended by ${name}.`)) : resolve(code),
    );
    // Who leaves a pager before its end closes what is written to.
    child.stdin?.on('error', () => undefined).end(text);
  });
  return ended.finally(stop);
}

function inWords(command: string, args: readonly string[]): string[] {
  if (PLAIN.test(command)) return [...command.split(' ').filter(Boolean), ...args];
  if (process.platform === 'win32') return ['cmd', '/d', '/s', '/c', command, ...args];
  return ['/bin/sh', '-c', `${command} "$@"`, command, ...args];
}

/** A Ctrl-C goes to every process of the terminal. While another one has it, it is not meant for us. */
function ignoreInterrupts(): () => void {
  const listeners = process.rawListeners('SIGINT') as (() => void)[];
  const ignore = () => undefined;
  process.removeAllListeners('SIGINT').on('SIGINT', ignore);
  return () => {
    process.off('SIGINT', ignore);
    for (const listener of listeners) process.on('SIGINT', listener);
  };
}
