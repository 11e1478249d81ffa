import type { Stats } from 'node:fs';

/**
 * What tells an untouched file from a changed one without reading it: size in bytes, when the content was last changed,
 * when the name or the content was (which no program can set back), inode. One string, because that is all that is ever
 * done with ten thousand of them: to be kept and to be compared.
 */
export type FileStamp = string;

/** Longer than the coarsest clock of a file system (FAT) takes for a tick. */
const SETTLED_MS = 2_000;

export function stampOf({ size, mtimeMs, ctimeMs, ino }: Stats): FileStamp {
  return `${size} ${mtimeMs} ${ctimeMs} ${ino}`;
}

/** Whether a change from now on must show in the stamp: one in the same tick of the clock would not. */
export function isSettled(stamp: FileStamp, now: number): boolean {
  const [, mtimeMs, ctimeMs] = stamp.split(' ').map(Number);
  return Math.max(mtimeMs!, ctimeMs!) + SETTLED_MS < now;
}
