import { spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, relative, sep } from 'node:path';
import { GitFault } from './git-fault.js';

const TIMEOUT_MS = 120_000;
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;
const MAX_ERROR_CHARS = 4_096;

/** Keeps git from running programs that the repository's configuration names. */
const SETTINGS = [
  'core.fsmonitor=false',
  'core.hooksPath=/dev/null',
  'protocol.allow=never',
  'submodule.recurse=false',
];
const OPTIONS = ['--no-pager', '--no-optional-locks', ...SETTINGS.flatMap((setting) => ['-c', setting])];

export interface GitAnswer {
  code: number | null;
  stdout: string;
  stderr: string;
}

/**
 * Runs git in a folder, without GIT_* variables, which could select another repository.
 * @throws GitFault if git is missing, times out or prints too much; the signal's reason
 */
export async function runGit(
  directory: string,
  args: readonly string[],
  { input, signal }: { input?: string; signal?: AbortSignal | undefined } = {},
): Promise<GitAnswer> {
  const git = findGit(directory);
  if (git === null) throw GitFault.missing(directory);
  signal?.throwIfAborted();
  return new Promise((resolve, reject) => {
    const child = spawn(git, [...OPTIONS, ...args], {
      ...{ cwd: directory, env: environment(), timeout: TIMEOUT_MS, windowsHide: true },
      ...(signal && { signal }),
    });
    const stdout: Buffer[] = [];
    let [bytes, stderr] = [0, ''];
    const fail = (said: string): void => {
      child.kill();
      reject(GitFault.failed(directory, said));
    };
    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_OUTPUT_BYTES) fail('it lists more than 256 MiB of names');
      else stdout.push(chunk);
    });
    child.stderr.on('data', (chunk: Buffer) => {
      stderr = (stderr + chunk.toString()).slice(0, MAX_ERROR_CHARS);
    });
    child.on('error', (error) => (signal?.aborted ? reject(signal.reason as Error) : fail(error.message)));
    child.on('close', (code) => {
      if (code === null) fail('it did not end in time');
      else resolve({ code, stdout: Buffer.concat(stdout).toString(), stderr });
    });
    // Git may exit before it has read all input; its exit code reports the reason.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}

/** Returns the absolute path of git. Neither a relative entry of PATH nor the folder itself may supply the program. */
function findGit(directory: string): string | null {
  const name = process.platform === 'win32' ? 'git.exe' : 'git';
  const folders = (process.env.PATH ?? '').split(delimiter).filter(isAbsolute);
  const outside = folders.filter((folder) => !isWithin(directory, folder));
  return outside.map((folder) => join(folder, name)).find(isProgram) ?? null;
}

function isWithin(directory: string, folder: string): boolean {
  const below = relative(directory, folder);
  return below === '' || (!isAbsolute(below) && below !== '..' && !below.startsWith(`..${sep}`));
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

function environment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^GIT_/i.test(name));
  return {
    ...Object.fromEntries(own),
    // LC_ALL=C because messages are parsed. The rest prevents fetches, prompts and locks.
    ...{ LC_ALL: 'C', GIT_ALLOW_PROTOCOL: 'none', GIT_NO_LAZY_FETCH: '1' },
    ...{ GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0' },
  };
}
