import { statSync } from 'node:fs';

/**
 * Tells a folder from another one that replaces it, by device, inode and, where the file system has it, birth time:
 * many file systems reuse the inode of a removed folder. Compare with `isSameFolder`.
 */
export function identityOf({ directory }: { directory: string }): string {
  const { dev, ino, birthtimeNs, ctimeNs } = statSync(directory, { bigint: true });
  // Without a known birth time Node returns the time of the last change, which for a new empty folder is the same.
  const isKnown = birthtimeNs > 0n && birthtimeNs < ctimeNs;
  return isKnown ? `${dev}:${ino}:${birthtimeNs}` : `${dev}:${ino}`;
}

/** Whether two identities are those of one folder. A birth time that only one of them has is ignored. */
export function isSameFolder(one: string, other: string): boolean {
  const [dev, ino, birth] = one.split(':');
  const [otherDev, otherIno, otherBirth] = other.split(':');
  const isOtherBirth = birth !== undefined && otherBirth !== undefined && birth !== otherBirth;
  return dev === otherDev && ino === otherIno && !isOtherBirth;
}
