// The size of an embedded store while its server runs.
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';

const DATABASE = 'patchbay.db';
const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/**
 * Bytes that a data directory would have if its write-ahead log were folded in now: the pages of the database as of the
 * last commit, and the other files. Steady, because it does not depend on when SQLite last folded the log in.
 *
 * @param {string} directory
 */
export async function databaseSize(directory) {
  let bytes = 0;
  for (const name of await readdir(directory)) {
    if (name.startsWith(DATABASE)) continue;
    const file = await stat(join(directory, name));
    if (file.isFile()) bytes += file.size;
  }
  const log = await readFile(join(directory, `${DATABASE}-wal`)).catch(() => Buffer.alloc(0));
  return bytes + (bytesAfterCommit(log) || (await stat(join(directory, DATABASE))).size);
}

/** Size of the database after the last commit in a write-ahead log (sqlite.org/fileformat.html#walformat); 0 if it has none. */
function bytesAfterCommit(log) {
  if (log.length < HEADER_BYTES) return 0;
  const pageBytes = log.readUInt32BE(8);
  const salt = log.subarray(16, 24);
  let pages = 0;
  for (
    let at = HEADER_BYTES;
    at + FRAME_HEADER_BYTES + pageBytes <= log.length;
    at += FRAME_HEADER_BYTES + pageBytes
  ) {
    // What follows is left from before the log began anew.
    if (!salt.equals(log.subarray(at + 8, at + 16))) break;
    pages = log.readUInt32BE(at + 4) || pages;
  }
  return pages * pageBytes;
}
