import type { Stats } from 'node:fs';

/**
 * What tells an untouched file from a changed one without reading it: size in bytes, when the content was last changed,
 * when the name or the content was (which no program can set back), inode, and an x where its owner may execute it. One string, because that is all that is ever
 * done with ten thousand of them: to be kept and to be compared.
 */
export type FileStamp = string;

/** Longer than the coarsest clock of a file system (FAT) takes for a tick. */
const SETTLED_MS = 2_000;

/** Windows has no such bit: there it is neither read nor set. */
export const KNOWS_EXECUTABLE = process.platform !== 'win32';
const OWNER_EXECUTES = 0o100;
const EXECUTABLE = ' x';

export function stampOf({ size, mtimeMs, ctimeMs, ino, mode }: Stats): FileStamp {
  const suffix = KNOWS_EXECUTABLE && (mode & OWNER_EXECUTES) !== 0 ? EXECUTABLE : '';
  return `${size} ${mtimeMs} ${ctimeMs} ${ino}${suffix}`;
}

/** Whether its owner may execute the file. */
export function isExecutable(stamp: FileStamp): boolean {
  return stamp.endsWith(EXECUTABLE);
}

/** Whether a change from now on must show in the stamp: one in the same tick of the clock would not. */
export function isSettled(stamp: FileStamp, now: number): boolean {
  return isOlder(stamp, SETTLED_MS, now);
}

/** Whether neither name nor content of the file have changed for more than so many ms. */
export function isOlder(stamp: FileStamp, ms: number, now: number): boolean {
  const [, mtimeMs, ctimeMs] = stamp.split(' ').map(Number);
  return Math.max(mtimeMs!, ctimeMs!) + ms < now;
}
