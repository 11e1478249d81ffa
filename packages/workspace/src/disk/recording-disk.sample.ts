import { realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

import type { FileSystem, OpenFile } from './file-system.js';
import { isTemp } from './walked-folder.sample.js';

/* A file system that records what a power failure would lose, for tests; not part of the build. */

/** The real path, however the file was reached. */
const real = (path: string): string => join(realpathSync(dirname(path)), basename(path));

/** Records what is written and what is synced; a power failure loses the rest. */
export class RecordingDisk {
  /** Folders with entries that are not durable, except temp files. */
  private readonly folders = new Set<string>();
  /** Files with content that is not durable. */
  private readonly files = new Set<string>();
  private readonly faults: string[] = [];
  /** Synced files and folders, in order. */
  readonly synced: string[] = [];

  /** What a power failure would lose now, or would have lost at some time. */
  get lost(): string[] {
    return [...this.faults, ...this.folders, ...this.files];
  }

  over(fs: FileSystem): FileSystem {
    return {
      ...fs,
      open: async (path, flags, mode) => {
        const opened = await fs.open(path, flags, mode);
        return this.recorded(opened, real(path));
      },
      mkdir: async (path, mode) => {
        await fs.mkdir(path, mode);
        this.folders.add(dirname(real(path)));
      },
      link: async (existing, path) => {
        await fs.link(existing, path);
        this.placed(real(existing), real(path));
      },
      rename: async (from, to) => {
        const source = real(from);
        await fs.rename(from, to);
        this.placed(source, real(to));
      },
      rmdir: async (path) => {
        const folder = real(path);
        await fs.rmdir(path);
        this.folders.delete(folder);
      },
      unlink: async (path) => {
        const file = real(path);
        await fs.unlink(path);
        this.files.delete(file);
        if (!isTemp(file)) this.folders.add(dirname(file));
      },
    };
  }

  private placed(source: string, target: string): void {
    if (isTemp(target)) return;
    if (this.files.has(source)) this.faults.push(`${target} took its place before it was durable`);
    this.folders.add(dirname(target));
    if (!isTemp(source)) this.folders.add(dirname(source));
  }

  private recorded(file: OpenFile, path: string): OpenFile {
    const sync = async (): Promise<void> => {
      await file.sync();
      this.synced.push(path);
      this.files.delete(path);
      this.folders.delete(path);
    };
    const writeFile = async (bytes: Uint8Array): Promise<void> => {
      await file.writeFile(bytes);
      this.files.add(path);
    };
    return {
      ...{ fd: file.fd, sync, writeFile },
      read: (...given) => file.read(...given),
      stat: (options) => file.stat(options),
      chmod: async (mode) => {
        await file.chmod(mode);
        this.files.add(path);
      },
      chown: (uid, gid) => file.chown(uid, gid),
      close: () => file.close(),
    };
  }
}
