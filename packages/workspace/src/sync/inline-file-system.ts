import * as fs from 'node:fs';
import { promisify } from 'node:util';
import { type FileSystem, type OpenFile, realFileSystem } from '../disk/file-system.js';

const fsync = promisify(fs.fsync);

/**
 * Synchronous system calls. Handing a call to the thread pool takes ten times as long as most calls, and a pull makes
 * a dozen per small file. Only fsync, which waits for the disk, is asynchronous.
 */
export const inlineFileSystem: FileSystem = {
  ...realFileSystem,
  open: async (path, flags, mode) => new InlineFile(fs.openSync(path, flags, mode)),
  lstat: async (path) => fs.lstatSync(path, { bigint: true }),
  readdir: async (path) => fs.readdirSync(path),
  accessForWrite: async (path) => fs.accessSync(path, fs.constants.W_OK),
  mkdir: async (path, mode) => void fs.mkdirSync(path, { mode }),
  rmdir: async (path) => fs.rmdirSync(path),
  link: async (existing, path) => fs.linkSync(existing, path),
  rename: async (from, to) => fs.renameSync(from, to),
  unlink: async (path) => fs.unlinkSync(path),
  realpath: async (path) => fs.realpathSync.native(path),
};

class InlineFile implements OpenFile {
  constructor(readonly fd: number) {}

  async read(buffer: Buffer, offset: number, length: number): Promise<{ bytesRead: number; buffer: Buffer }> {
    return { bytesRead: fs.readSync(this.fd, buffer, offset, length, null), buffer };
  }

  async writeFile(bytes: Uint8Array): Promise<void> {
    fs.writeFileSync(this.fd, bytes);
  }

  async stat(options: { bigint: true }): Promise<fs.BigIntStats> {
    return fs.fstatSync(this.fd, options);
  }

  async chmod(mode: number): Promise<void> {
    fs.fchmodSync(this.fd, mode);
  }

  async chown(uid: number, gid: number): Promise<void> {
    fs.fchownSync(this.fd, uid, gid);
  }

  sync(): Promise<void> {
    return fsync(this.fd);
  }

  async close(): Promise<void> {
    fs.closeSync(this.fd);
  }
}
