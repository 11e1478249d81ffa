import { statSync } from 'node:fs';

/**
 * What tells a folder from another that takes its place: its device and inode, and where the file system tells it, its birth,
 * since many give the inode of a folder that was removed to the next one. To be compared by `isSameFolder`.
 */
export function identityOf({ directory }: { directory: string }): string {
  const { dev, ino, birthtimeNs, ctimeNs } = statSync(directory, { bigint: true });
  // Where no birth is known Node has the last change in its place; a folder in which nothing has happened yet looks the same.
  const isKnown = birthtimeNs > 0n && birthtimeNs < ctimeNs;
  return isKnown ? `${dev}:${ino}:${birthtimeNs}` : `${dev}:${ino}`;
}

/** Whether two identities are those of one folder. A birth that only one of them knows tells nothing. */
export function isSameFolder(one: string, other: string): boolean {
  const [dev, ino, birth] = one.split(':');
  const [otherDev, otherIno, otherBirth] = other.split(':');
  const isOtherBirth = birth !== undefined && otherBirth !== undefined && birth !== otherBirth;
  return dev === otherDev && ino === otherIno && !isOtherBirth;
}
