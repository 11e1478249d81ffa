import type { Stats } from 'node:fs';

/**
 * Detects changes without reading the file: size in bytes, mtime, ctime (which no program can set back), inode, and an
 * x if its owner may execute it. It is one string, because ten thousand of them are only stored and compared.
 */
export type FileStamp = string;

/** Longer than a tick of the coarsest file system clock (FAT). */
const SETTLED_MS = 2_000;

/** Windows has no executable bit, so it is neither read nor set there. */
export const KNOWS_EXECUTABLE = process.platform !== 'win32';
const OWNER_EXECUTES = 0o100;
const EXECUTABLE = ' x';

export function stampOf({ size, mtimeMs, ctimeMs, ino, mode }: Stats): FileStamp {
  const suffix = KNOWS_EXECUTABLE && (mode & OWNER_EXECUTES) !== 0 ? EXECUTABLE : '';
  return `${size} ${mtimeMs} ${ctimeMs} ${ino}${suffix}`;
}

export function isExecutable(stamp: FileStamp): boolean {
  return stamp.endsWith(EXECUTABLE);
}

/** Whether a later change must alter the stamp. A change in the same clock tick would not. */
export function isSettled(stamp: FileStamp, now: number): boolean {
  return isOlder(stamp, SETTLED_MS, now);
}

/** Whether the name and content have not changed for more than `ms`. */
export function isOlder(stamp: FileStamp, ms: number, now: number): boolean {
  const [, mtimeMs, ctimeMs] = stamp.split(' ').map(Number);
  return Math.max(mtimeMs!, ctimeMs!) + ms < now;
}
