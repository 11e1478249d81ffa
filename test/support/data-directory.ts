import { statfsSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Linux's file system in memory: a commit's fsync costs nothing there. */
const IN_MEMORY = '/dev/shm';

/** The least that must be free there, in bytes; a container often has 64 MiB. */
const ROOM = 2 * 1024 ** 3;

const base = hasRoom() ? IN_MEMORY : tmpdir();

/**
 * A new directory for what a server of the tests keeps; whoever asks for it removes it. In memory where the system has
 * room there: a process that is killed loses nothing by that, and that commits reach a disk is for durability.spec.ts.
 */
export function newDataDirectory(): Promise<string> {
  return mkdtemp(join(base, 'patchbay-data-'));
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    return bavail * bsize >= ROOM;
  } catch {
    return false;
  }
}
