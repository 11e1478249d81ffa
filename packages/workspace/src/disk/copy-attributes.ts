import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { delimiter, isAbsolute } from 'node:path';

/** How long the shell waits for more work, in ms: to start one takes as long as a dozen copies. */
const IDLE_MS = 5_000;

/**
 * Reads pairs of paths, one a line, and answers each pair: whether all of its attributes were taken over (y, n), or that this
 * cp, such as the one of busybox, cannot do so for any file (c).
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

/** 'never': by no cp of this system, which was said before. */
export type Copied = boolean | 'never';

/** Whether somebody was told that cp cannot do it. */
let isTold = false;

/** A shell that runs cp, so that a write does not copy this whole process for it. */
class Copier {
  private readonly waiting: ((copied: Copied) => void)[] = [];
  private readonly child: ChildProcess;
  private idle: NodeJS.Timeout | undefined;
  isOver = false;

  constructor(readonly path: string) {
    this.child = spawn('/bin/sh', ['-c', SCRIPT], {
      // Of its own session, so that Ctrl-C at the terminal does not end it in the middle of a write.
      ...{ cwd: '/', env: { PATH: path, LC_ALL: 'C' }, stdio: ['pipe', 'pipe', 'ignore'], detached: true },
    });
    this.child.unref();
    for (const pipe of this.pipes) pipe.on('error', () => this.end()).unref();
    this.child.on('error', () => this.end());
    this.child.on('close', () => this.end());
    this.child.stdout!.on('data', (said: Buffer) => {
      for (const answer of said.toString('latin1').replaceAll('\n', ''))
        this.waiting.shift()?.(answer === 'c' ? incapable() : answer === 'y');
      if (this.waiting.length === 0) this.rest();
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

  private rest(): void {
    for (const pipe of this.pipes) pipe.unref();
    this.idle = setTimeout(() => {
      this.isOver = true;
      this.child.stdin!.end();
    }, IDLE_MS).unref();
  }

  private end(): void {
    this.isOver = true;
    for (const answer of this.waiting.splice(0)) answer(false);
  }
}

/** False for the first file alone: a warning with every write would say the same. */
function incapable(): Copied {
  const copied = isTold ? 'never' : false;
  isTold = true;
  return copied;
}

let copier: Copier | null = null;

/**
 * Has an open file take over mode, owner, access control list and extended attributes of another one (Linux, by GNU cp). It
 * is named by its descriptor: cp would make a file that is gone by then, for a process that was killed.
 * @returns false where that could not be done, or not whole; 'never' where false was said of an earlier file for the same reason
 */
export async function copyAttributes(from: string, fd: number): Promise<Copied> {
  const [source, target] = [inAnyProcess(from), inAnyProcess(`/proc/self/fd/${fd}`)];
  if (source.includes('\n')) return false;
  const path = (process.env.PATH ?? '').split(delimiter).filter(isAbsolute).join(delimiter);
  if (copier === null || copier.isOver || copier.path !== path) copier = new Copier(path);
  return copier.copy(source, target);
}

/** The same path for a child: what is open here is reached by this process's number. */
function inAnyProcess(path: string): string {
  return path.replace(/^\/proc\/self\//, `/proc/${process.pid}/`);
}
