import { type FSWatcher, statfsSync, statSync, watch } from 'node:fs';
import { join } from 'node:path';

/** File systems that do not report changes by other machines or by a container's host. */
const UNRELIABLE_FILE_SYSTEMS = new Set([
  ...[0x6969 /* NFS */, 0x517b /* SMB */, 0xff534d42 /* CIFS */, 0xfe534d42 /* SMB2 */],
  ...[0x65735546 /* FUSE */, 0x01021997 /* 9p: WSL, virtual machines */],
]);
const WATCHES_RECURSIVELY = process.platform === 'darwin' || process.platform === 'win32';

/**
 * Reports that something in a folder may have changed, but not what; the receiver scans. It uses one watch per folder,
 * or a single one on systems that watch whole trees, and reads no file.
 */
export class FolderWatch {
  private readonly watchers = new Map<string, { watcher: FSWatcher; identity: string | null }>();
  private failed = false;

  /** @param onHint may be called often; debounce it */
  constructor(
    private readonly directory: string,
    private readonly onHint: () => void,
  ) {
    this.failed = isUnreliable(directory);
  }

  /** Whether all changes are reported. If not, scan periodically. */
  get isTrusted(): boolean {
    return !this.failed;
  }

  /**
   * Watches exactly these folders, given by their relative paths.
   * @returns whether a folder is newly watched; its earlier changes were not reported
   */
  follow(folders: readonly string[]): boolean {
    const wanted = new Set(['', ...(WATCHES_RECURSIVELY ? [] : folders)]);
    for (const [folder, { identity }] of this.watchers) {
      // A folder that was deleted and created again is a new one, which the old watch does not report.
      if (!wanted.has(folder) || this.identityOf(folder) !== identity) this.unwatch(folder);
    }
    let added = false;
    for (const folder of wanted) if (!this.watchers.has(folder)) added = this.add(folder) || added;
    return added;
  }

  close(): void {
    for (const folder of [...this.watchers.keys()]) this.unwatch(folder);
  }

  /** A missing folder is not a failure. Running out of watches is. */
  private add(folder: string): boolean {
    if (this.failed) return false;
    try {
      const watcher = watch(join(this.directory, folder), {
        recursive: WATCHES_RECURSIVELY,
        persistent: false,
      });
      watcher.on('change', () => this.onHint());
      watcher.on('error', () => this.drop(folder));
      this.watchers.set(folder, { watcher, identity: this.identityOf(folder) });
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.failed = true;
      return false;
    }
  }

  private drop(folder: string): void {
    this.unwatch(folder);
    this.onHint();
  }

  private unwatch(folder: string): void {
    this.watchers.get(folder)?.watcher.close();
    this.watchers.delete(folder);
  }

  /** The birth time is needed because some file systems reuse the inode of a deleted folder. */
  private identityOf(folder: string): string | null {
    const stats = statSync(join(this.directory, folder), { bigint: true, throwIfNoEntry: false });
    return stats === undefined ? null : `${stats.dev}:${stats.ino}:${stats.birthtimeNs}`;
  }
}

function isUnreliable(directory: string): boolean {
  try {
    return UNRELIABLE_FILE_SYSTEMS.has(Number(statfsSync(directory).type));
  } catch {
    return false;
  }
}
