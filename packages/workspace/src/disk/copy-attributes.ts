import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { delimiter, isAbsolute } from 'node:path';

/** Idle time in ms after which the shell ends. Starting one takes as long as a dozen copies. */
const IDLE_MS = 5_000;

/**
 * Reads pairs of paths, one path per line. Answers each pair with y (all attributes copied), n (not all), or c (this
 * cp cannot copy attributes, such as busybox).
 */
const SCRIPT = `if command -v cp >/dev/null && ! cp --attributes-only --help >/dev/null 2>&1
then
  while IFS= read -r from && IFS= read -r to; do echo c; done
  exit
fi
while IFS= read -r from && IFS= read -r to; do
  if said=$(cp --attributes-only --preserve=all --no-preserve=timestamps,links -P -T -- "$from" "$to" 2>&1) && [ -z "$said" ]
  then echo y; else echo n; fi
done`;

/** 'never': no cp of this system can copy attributes, and an earlier call has reported that. */
export type Copied = boolean | 'never';

let isReported = false;

/** A long-lived shell that runs cp. Spawning from this process for each write would be slow. */
class Copier {
  private readonly waiting: ((copied: Copied) => void)[] = [];
  private readonly child: ChildProcess;
  private idle: NodeJS.Timeout | undefined;
  hasEnded = false;

  constructor(readonly path: string) {
    this.child = spawn('/bin/sh', ['-c', SCRIPT], {
      // A session of its own keeps Ctrl-C from ending the shell during a write.
      ...{ cwd: '/', env: { PATH: path, LC_ALL: 'C' }, stdio: ['pipe', 'pipe', 'ignore'], detached: true },
    });
    this.child.unref();
    for (const pipe of this.pipes) pipe.on('error', () => this.end()).unref();
    this.child.on('error', () => this.end());
    this.child.on('close', () => this.end());
    this.child.stdout!.on('data', (said: Buffer) => {
      for (const answer of said.toString('latin1').replaceAll('\n', ''))
        this.waiting.shift()?.(answer === 'c' ? reportOnce() : answer === 'y');
      if (this.waiting.length === 0) this.startIdleTimer();
    });
  }

  copy(from: string, to: string): Promise<Copied> {
    clearTimeout(this.idle);
    for (const pipe of this.pipes) pipe.ref();
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      this.child.stdin!.write(`${from}\n${to}\n`);
    });
  }

  private get pipes(): Socket[] {
    return [this.child.stdin, this.child.stdout] as Socket[];
  }

  private startIdleTimer(): void {
    for (const pipe of this.pipes) pipe.unref();
    this.idle = setTimeout(() => {
      this.hasEnded = true;
      this.child.stdin!.end();
    }, IDLE_MS).unref();
  }

  private end(): void {
    this.hasEnded = true;
    for (const answer of this.waiting.splice(0)) answer(false);
  }
}

/** Reports false for the first file only, so that a system without GNU cp does not warn at each write. */
function reportOnce(): Copied {
  const copied = isReported ? 'never' : false;
  isReported = true;
  return copied;
}

let copier: Copier | null = null;

/**
 * Copies mode, owner, access control list and extended attributes to an open file (Linux, with GNU cp). The target is
 * named by its descriptor, because cp would create a missing file.
 * @returns false if not all attributes were copied; 'never' if an earlier call returned false because cp cannot copy
 * any
 */
export async function copyAttributes(from: string, fd: number): Promise<Copied> {
  const [source, target] = [withProcessId(from), withProcessId(`/proc/self/fd/${fd}`)];
  if (source.includes('\n')) return false;
  const path = (process.env.PATH ?? '').split(delimiter).filter(isAbsolute).join(delimiter);
  if (copier === null || copier.hasEnded || copier.path !== path) copier = new Copier(path);
  return copier.copy(source, target);
}

/** A child process reaches this process's descriptors by its pid. */
function withProcessId(path: string): string {
  return path.replace(/^\/proc\/self\//, `/proc/${process.pid}/`);
}
