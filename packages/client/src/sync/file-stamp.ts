import type { Stats } from 'node:fs';

/** What tells an untouched file from a changed one without reading it. */
export interface FileStamp {
  sizeBytes: number;
  mtimeMs: number;
  /** When the name or the content was last changed, which no program can set back. */
  ctimeMs: number;
  ino: number;
}

/** Longer than the coarsest clock of a file system (FAT) takes for a tick. */
const SETTLED_MS = 2_000;

export function stampOf({ size, mtimeMs, ctimeMs, ino }: Stats): FileStamp {
  return { sizeBytes: size, mtimeMs, ctimeMs, ino };
}

/** Whether a change from now on must show in the stamp: one in the same tick of the clock would not. */
export function isSettled({ mtimeMs, ctimeMs }: FileStamp, now: number): boolean {
  return Math.max(mtimeMs, ctimeMs) + SETTLED_MS < now;
}
