import { mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';

/** Linux's file system in memory: an fsync costs nothing there. */
const IN_MEMORY = '/dev/shm';

/** The least that must be free there, in bytes; a container often has 64 MiB. */
const ROOM = 2 * 1024 ** 3;

let made = null;

/**
 * Where the system has room in memory the folders and databases of tests are there, unless TMPDIR names another place:
 * a process that is killed loses nothing by that. That what is written reaches a disk is for durability.spec.ts.
 */
export function useMemory() {
  if (process.env.TMPDIR !== undefined) return;
  removeLeft();
  if (!hasRoom()) return;
  made = mkdtempSync(join(IN_MEMORY, `patchbay-${process.pid}-`));
  process.env.TMPDIR = made;
}

/** Gives the memory back, with what tests have left there. */
export function leaveMemory() {
  if (made !== null) remove(made);
}

/** A run that was broken off leaves what it had in memory: the next one gives it back. */
function removeLeft() {
  for (const name of names()) {
    const [, pid] = /^patchbay-(\d+)-\w+$/.exec(name) ?? [];
    if (pid === undefined || isRunning(Number(pid))) continue;
    try {
      remove(join(IN_MEMORY, name));
    } catch {
      // A small disk of that run is still mounted there.
    }
  }
}

function names() {
  try {
    return readdirSync(IN_MEMORY);
  } catch {
    return [];
  }
}

/** Whoever may not send it a signal learns that it runs, too. */
function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code !== 'ESRCH';
  }
}

function remove(directory) {
  rmSync(directory, { recursive: true, force: true });
}

function hasRoom() {
  try {
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    return bavail * bsize >= ROOM;
  } catch {
    return false;
  }
}
