import { spawn } from 'node:child_process';

/** A command from an environment variable: `less`, `code --wait`, or a shell command. */
interface Command {
  /** The value of the variable. */
  command: string;
  args?: readonly string[];
  env?: NodeJS.ProcessEnv;
  /** Written to standard input; without it the command reads the terminal. */
  text?: string;
  signal?: AbortSignal;
}

/** Plain words, without characters that a shell would interpret. */
const PLAIN = /^[\w@%+=:,./\\ -]+$/;

/**
 * Runs a command that has the terminal meanwhile, Ctrl-C included. Plain words run without a shell, anything else
 * runs through one, as in git; arguments are never part of the shell's input.
 * @returns its exit code @throws Error if it cannot be started or was ended by a signal
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
    // Leaving a pager early closes the pipe.
    child.stdin?.on('error', () => undefined).end(text);
  });
  return ended.finally(stop);
}

function inWords(command: string, args: readonly string[]): string[] {
  if (PLAIN.test(command)) return [...command.split(' ').filter(Boolean), ...args];
  if (process.platform === 'win32') return ['cmd', '/d', '/s', '/c', command, ...args];
  return ['/bin/sh', '-c', `${command} "$@"`, command, ...args];
}

/** Ctrl-C goes to every process of the terminal. It is not meant for us while another one has it. */
function ignoreInterrupts(): () => void {
  const listeners = process.rawListeners('SIGINT') as (() => void)[];
  const ignore = () => undefined;
  process.removeAllListeners('SIGINT').on('SIGINT', ignore);
  return () => {
    process.off('SIGINT', ignore);
    for (const listener of listeners) process.on('SIGINT', listener);
  };
}
