import { constants, existsSync, type BigIntStats } from 'node:fs';
import * as fs from 'node:fs/promises';

import { sha256 } from '@patchbay/protocol/hash';

import { type Copied, copyAttributes } from './copy-attributes.js';

/** An open file or folder. */
export interface OpenFile {
  readonly fd: number;
  read(buffer: Buffer, offset: number, length: number): Promise<{ bytesRead: number; buffer: Buffer }>;
  writeFile(bytes: Uint8Array): Promise<void>;
  stat(options: { bigint: true }): Promise<BigIntStats>;
  chmod(mode: number): Promise<void>;
  chown(uid: number, gid: number): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** The few calls that the executor makes; a seam for the faults that no test can provoke on a real disk. */
export interface FileSystem {
  readonly open: (path: string, flags: number, mode?: number) => Promise<OpenFile>;
  readonly lstat: (path: string) => Promise<BigIntStats>;
  readonly readdir: (path: string) => Promise<string[]>;
  /** Rejects unless this process may write to it. */
  readonly accessForWrite: (path: string) => Promise<void>;
  readonly mkdir: (path: string, mode: number) => Promise<void>;
  readonly rmdir: (path: string) => Promise<void>;
  readonly link: (existing: string, path: string) => Promise<void>;
  readonly rename: (from: string, to: string) => Promise<void>;
  readonly unlink: (path: string) => Promise<void>;
  readonly realpath: (path: string) => Promise<string>;
  /**
   * Has an open file, by its descriptor, take over mode, owner, access control list and extended attributes of another;
   * false where it has not, or not whole; 'never' where the same was said before, of the whole system. Left out where the
   * system has no way to do so.
   */
  readonly copyAttributes?: (from: string, fd: number) => Promise<Copied>;
  readonly sha256: (bytes: Uint8Array) => string;
  /** Whether an open folder's entries can be reached through its descriptor, which no renaming can redirect. */
  readonly hasHandlePaths: boolean;
}

export const realFileSystem: FileSystem = {
  open: (path, flags, mode) => fs.open(path, flags, mode),
  lstat: (path) => fs.lstat(path, { bigint: true }),
  readdir: (path) => fs.readdir(path),
  accessForWrite: (path) => fs.access(path, constants.W_OK),
  mkdir: async (path, mode) => {
    await fs.mkdir(path, { mode });
  },
  rmdir: (path) => fs.rmdir(path),
  link: (existing, path) => fs.link(existing, path),
  rename: (from, to) => fs.rename(from, to),
  unlink: (path) => fs.unlink(path),
  realpath: (path) => fs.realpath(path),
  ...(process.platform === 'linux' && { copyAttributes }),
  sha256,
  hasHandlePaths: process.platform === 'linux' && existsSync('/proc/self/fd'),
};
