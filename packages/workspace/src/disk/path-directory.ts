import { constants, type BigIntStats } from 'node:fs';
import { join, relative, sep } from 'node:path';

import type { FileSystem } from './file-system.js';
import { isGitFolder } from './relative-path.js';
import type { SafeDirectory } from './safe-directory.js';
import { diskFault, errnoOf, WorkspaceFault } from './workspace-fault.js';

/**
 * A folder held by its path, for systems without descriptor paths (macOS, Windows). It is checked again before each
 * step, which detects a component that was replaced by a link, except in the instant between check and step.
 */
export class PathDirectory implements SafeDirectory {
  private constructor(
    private readonly fs: FileSystem,
    private readonly root: string,
    private readonly path: string,
    private readonly identity: BigIntStats,
  ) {}

  static openRoot(fs: FileSystem, root: string): Promise<PathDirectory | null> {
    return PathDirectory.open(fs, root, root, root.slice(root.lastIndexOf(sep) + 1));
  }

  private static async open(
    fs: FileSystem,
    root: string,
    path: string,
    name: string,
  ): Promise<PathDirectory | null> {
    const stats = await lstatOrNull(fs, path);
    if (!stats) return null;
    if (stats.isSymbolicLink()) throw new WorkspaceFault('InvalidPath', `"${name}" is a symbolic link.`);
    if (!stats.isDirectory()) {
      throw new WorkspaceFault('DirectoryCreateFailed', `"${name}" is in the way: it is not a folder.`);
    }
    const directory = new PathDirectory(fs, root, path, stats);
    await directory.verify();
    return directory;
  }

  entry(name: string): string {
    return join(this.path, name);
  }

  child(name: string): Promise<SafeDirectory | null> {
    return PathDirectory.open(this.fs, this.root, this.entry(name), name);
  }

  async verify(): Promise<void> {
    const stats = await lstatOrNull(this.fs, this.path);
    const real = await this.fs.realpath(this.path).catch(() => null);
    const same = stats?.dev === this.identity.dev && stats.ino === this.identity.ino;
    if (!same || real === null || !this.isInsideRoot(real)) {
      throw new WorkspaceFault(
        'InvalidPath',
        'A folder of the path is a link, or was changed during the write.',
      );
    }
  }

  /** The real path also resolves NTFS short names. */
  private isInsideRoot(real: string): boolean {
    if (real === this.root) return true;
    const below = relative(this.root, real).split(sep);
    return real.startsWith(this.root.endsWith(sep) ? this.root : this.root + sep) && !below.some(isGitFolder);
  }

  async sync(): Promise<void> {
    if (process.platform === 'win32') return;
    const handle = await this.fs.open(this.path, constants.O_RDONLY).catch(() => null);
    await handle?.sync().catch(() => {});
    await handle?.close();
  }

  async close(): Promise<void> {}
}

async function lstatOrNull(fs: FileSystem, path: string): Promise<BigIntStats | null> {
  try {
    return await fs.lstat(path);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'ENOENT' || errno === 'ENOTDIR') return null;
    throw diskFault('DirectoryCreateFailed', 'A folder of the path could not be opened', error);
  }
}
