import { isUtf8 } from 'node:buffer';
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { sha256 } from '@patchbay/protocol/hash';
import { type FileStamp, stampOf } from './file-stamp.js';

const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** A file's content with the stamp from before the read, so that a change during the read alters the stamp. */
export interface ReadFile {
  stamp: FileStamp;
  bytes: Buffer;
  sha256: string;
  /** UTF-8 without NUL. */
  isText: boolean;
}

/** Reads a file; null if it is not a regular file or exceeds the limit. */
export function readWhole(path: string, maxBytes: number): ReadFile | null {
  const fd = openSync(path, FLAGS);
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile() || stats.size > maxBytes) return null;
    const bytes = readFileSync(fd);
    if (bytes.length > maxBytes) return null;
    return {
      stamp: stampOf(stats),
      bytes,
      sha256: sha256(bytes),
      isText: isUtf8(bytes) && !bytes.includes(0),
    };
  } finally {
    closeSync(fd);
  }
}
