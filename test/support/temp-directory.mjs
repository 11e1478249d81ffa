import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
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
  if (process.env.TMPDIR !== undefined || !hasRoom()) return;
  made = mkdtempSync(join(IN_MEMORY, 'patchbay-'));
  process.env.TMPDIR = made;
}

/** Gives the memory back, with what tests have left there. */
export function leaveMemory() {
  if (made !== null) rmSync(made, { recursive: true, force: true });
}

function hasRoom() {
  try {
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    return bavail * bsize >= ROOM;
  } catch {
    return false;
  }
}
