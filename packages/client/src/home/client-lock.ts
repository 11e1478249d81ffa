import { randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { mkdir, open, readdir, stat, unlink, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';

import { sha256 } from '@patchbay/protocol/hash';
import { ClientLockedError } from '../journal/client-locked-error.js';

const LOCK_NAME = /^lock-([0-9a-f]{12})-(\d+)-(\d+)-[0-9a-f]{8}$/;
const HEARTBEAT_MS = 5_000;
/**
 * A lock of another machine or container is stale when its time is further from now than this. Its processes are
 * invisible, and a clock that was set back puts the time in the future.
 */
const FOREIGN_STALE_MS = 30_000;
const MAX_TRIES = 5;
const MAX_PAUSE_MS = 80;

/**
 * Keeps a second process from using the same journal. A process killed by SIGKILL leaves no lock that blocks the next
 * start. Each contender creates its own file, named after itself, and then looks for others: of two that overlap, the
 * later one sees the earlier. File names are never reused, so removing a dead lock cannot hit a live one.
 */
export class ClientLock {
  private isHeld = true;

  private constructor(
    private readonly path: string,
    private readonly heartbeat: NodeJS.Timeout,
  ) {}

  /** @throws ClientLockedError with a message for the terminal. */
  static async acquire(directory: string): Promise<ClientLock> {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    for (let tries = 1; ; tries++) {
      const name = ownName();
      const path = join(directory, name);
      await (await open(path, 'wx', 0o600)).close();
      const holder = await livingOther(directory, name);
      if (holder === null) return new ClientLock(path, keepFresh(path));
      await unlink(path);
      if (tries === MAX_TRIES) {
        throw new ClientLockedError(
          `Another patchbay client (process ${holder}) is connected with this id.`,
          holder,
        );
      }
      // Two that start together both step back; the random pause lets one go first.
      await new Promise((resolve) => setTimeout(resolve, Math.random() * MAX_PAUSE_MS));
    }
  }

  /** Idempotent. */
  async release(): Promise<void> {
    if (!this.isHeld) return;
    this.isHeld = false;
    clearInterval(this.heartbeat);
    await unlink(this.path).catch(() => {});
  }
}

function ownName(): string {
  return `lock-${PID_NAMESPACE}-${process.pid}-${startedAt(process.pid) ?? 0}-${randomBytes(4).toString('hex')}`;
}

function keepFresh(path: string): NodeJS.Timeout {
  const touch = () => {
    const now = new Date();
    utimes(path, now, now).catch(() => {});
  };
  return setInterval(touch, HEARTBEAT_MS).unref();
}

/** The pid of a live contender other than `own`, or null. Removes the locks of dead ones. */
async function livingOther(directory: string, own: string): Promise<number | null> {
  for (const name of await readdir(directory)) {
    const match = LOCK_NAME.exec(name);
    if (!match || name === own) continue;
    const [, place, pid, started] = match;
    const path = join(directory, name);
    const isAlive = place === PID_NAMESPACE ? isRunning(Number(pid), started!) : await isFresh(path);
    if (isAlive) return Number(pid);
    await unlink(path).catch(() => {});
  }
  return null;
}

/** Pids are reused; the start time tells two processes apart where the system shows it. */
function isRunning(pid: number, started: string): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  const now = startedAt(pid);
  return now === null || String(now) === started || started === '0';
}

async function isFresh(path: string): Promise<boolean> {
  const stats = await stat(path).catch(() => null);
  return stats !== null && Math.abs(Date.now() - stats.mtimeMs) < FOREIGN_STALE_MS;
}

/** Start time of a process in clock ticks since boot (Linux), or null if unknown. */
function startedAt(pid: number): number | null {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const [state, ...fields] = line.slice(line.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' ? -1 : Number(fields[18]);
  } catch {
    return null;
  }
}

/** Identifies the pid namespace: this machine, this boot, this container. */
const PID_NAMESPACE = sha256(
  [
    hostname(),
    orEmpty(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')),
    orEmpty(() => readlinkSync('/proc/self/ns/pid')),
  ].join('\n'),
).slice(0, 12);

function orEmpty(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
