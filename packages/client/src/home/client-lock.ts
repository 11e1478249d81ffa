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
 * A lock of another machine or container, whose processes cannot be seen, is stale when its time is further away than this:
 * in the past, or in the future, where a clock was set back since.
 */
const FOREIGN_STALE_MS = 30_000;
const MAX_TRIES = 5;
const MAX_PAUSE_MS = 80;

/**
 * Keeps a second process from using the same journal; survives kill -9 without leaving a lock that bars the next start.
 * Each contender makes a file of its own, whose name says who it is, and then looks for others: of two that overlap, the
 * later one sees the earlier. Names are never used twice, so removing a dead one cannot hit a living one.
 */
export class ClientLock {
  private isHeld = true;

  private constructor(
    private readonly path: string,
    private readonly heartbeat: NodeJS.Timeout,
  ) {}

  /** @throws ClientLockedError, its message meant for the terminal. */
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
      // Two that start together both step back; the pause lets one be first.
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
  return `lock-${PLACE}-${process.pid}-${startedAt(process.pid) ?? 0}-${randomBytes(4).toString('hex')}`;
}

function keepFresh(path: string): NodeJS.Timeout {
  const touch = () => {
    const now = new Date();
    utimes(path, now, now).catch(() => {});
  };
  return setInterval(touch, HEARTBEAT_MS).unref();
}

/** The pid of a living contender other than `own`; the locks of dead ones are removed. */
async function livingOther(directory: string, own: string): Promise<number | null> {
  for (const name of await readdir(directory)) {
    const match = LOCK_NAME.exec(name);
    if (!match || name === own) continue;
    const [, place, pid, started] = match;
    const path = join(directory, name);
    const isAlive = place === PLACE ? isRunning(Number(pid), started!) : await isFresh(path);
    if (isAlive) return Number(pid);
    await unlink(path).catch(() => {});
  }
  return null;
}

/** A pid is used again sooner or later; the start time tells the processes apart where the system shows it. */
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

/** Start time of a process in clock ticks since boot (Linux); null where it cannot be told. */
function startedAt(pid: number): number | null {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const [state, ...fields] = line.slice(line.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' ? -1 : Number(fields[18]);
  } catch {
    return null;
  }
}

/** Where pids mean the same: this machine, since it booted, in this container. */
const PLACE = sha256(
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
