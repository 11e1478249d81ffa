import { constants } from 'node:fs';

import type { FileSystem, OpenFile } from './file-system.js';
import type { SafeDirectory } from './safe-directory.js';
import { diskFault, errnoOf, WorkspaceFault } from './workspace-fault.js';

/** A folder held by its descriptor (Linux). Replacing a component of its path by a link afterwards has no effect. */
export class HandleDirectory implements SafeDirectory {
  private constructor(
    private readonly fs: FileSystem,
    private readonly handle: OpenFile,
  ) {}

  static async open(fs: FileSystem, path: string): Promise<HandleDirectory | null> {
    const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
    try {
      return new HandleDirectory(fs, await fs.open(path, flags));
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') return null;
      throw await HandleDirectory.refusal(fs, path, error);
    }
  }

  /** The system gives the same errno for a link and for a file. */
  private static async refusal(fs: FileSystem, path: string, error: unknown): Promise<WorkspaceFault> {
    const name = path.slice(path.lastIndexOf('/') + 1);
    const stats = await fs.lstat(path).catch(() => null);
    if (stats?.isSymbolicLink())
      return new WorkspaceFault('InvalidPath', `"${name}" is a symbolic link.`, error);
    if (stats && !stats.isDirectory()) {
      return new WorkspaceFault(
        'DirectoryCreateFailed',
        `"${name}" is in the way: it is not a folder.`,
        error,
      );
    }
    return diskFault('DirectoryCreateFailed', `The folder "${name}" could not be opened`, error);
  }

  entry(name: string): string {
    return `/proc/self/fd/${this.handle.fd}/${name}`;
  }

  child(name: string): Promise<SafeDirectory | null> {
    return HandleDirectory.open(this.fs, this.entry(name));
  }

  async verify(): Promise<void> {}

  /** Best effort: the rename is already visible and cannot be undone. */
  sync(): Promise<void> {
    return this.handle.sync().catch(() => {});
  }

  close(): Promise<void> {
    return this.handle.close().catch(() => {});
  }
}
