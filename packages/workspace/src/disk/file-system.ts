import { constants, existsSync, type BigIntStats } from 'node:fs';
import * as fs from 'node:fs/promises';

import { sha256 } from '@patchbay/protocol/hash';

import { type Copied, copyAttributes } from './copy-attributes.js';

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

/** The system calls of the executor. Tests replace it to inject faults that a real disk cannot provoke. */
export interface FileSystem {
  readonly open: (path: string, flags: number, mode?: number) => Promise<OpenFile>;
  readonly lstat: (path: string) => Promise<BigIntStats>;
  readonly readdir: (path: string) => Promise<string[]>;
  /** Rejects if this process may not write to the file. */
  readonly accessForWrite: (path: string) => Promise<void>;
  readonly mkdir: (path: string, mode: number) => Promise<void>;
  readonly rmdir: (path: string) => Promise<void>;
  readonly link: (existing: string, path: string) => Promise<void>;
  readonly rename: (from: string, to: string) => Promise<void>;
  readonly unlink: (path: string) => Promise<void>;
  readonly realpath: (path: string) => Promise<string>;
  /**
   * Copies mode, owner, access control list and extended attributes to an open descriptor. Returns false if not all
   * were copied, 'never' if an earlier call has reported that the system cannot. Absent on systems without a way to do
   * it.
   */
  readonly copyAttributes?: (from: string, fd: number) => Promise<Copied>;
  readonly sha256: (bytes: Uint8Array) => string;
  /** Whether /proc/self/fd reaches the entries of an open folder, independent of later renames. */
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
