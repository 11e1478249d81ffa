import { type FSWatcher, statfsSync, statSync, watch } from 'node:fs';
import { join } from 'node:path';

/** File systems that tell nobody of what another machine, or the host of a container, changes in them. */
const TELLS_NOTHING = new Set([
  ...[0x6969 /* NFS */, 0x517b /* SMB */, 0xff534d42 /* CIFS */, 0xfe534d42 /* SMB2 */],
  ...[0x65735546 /* FUSE */, 0x01021997 /* 9p: WSL, virtual machines */],
]);
const WATCHES_DEEP = process.platform === 'darwin' || process.platform === 'win32';

/**
 * Says that something may have changed in a folder, never what: whoever is told looks for himself. It costs one watch a
 * folder, on systems that watch a whole tree one for all, and no look at a file.
 */
export class FolderWatch {
  private readonly watchers = new Map<string, { watcher: FSWatcher; identity: string | null }>();
  private failed = false;

  /** @param onHint called often where much changes: gather the calls. */
  constructor(
    private readonly directory: string,
    private readonly onHint: () => void,
  ) {
    this.failed = tellsNothing(directory);
  }

  /** Whether every change is told; where not, look now and then without a hint. */
  get isTrusted(): boolean {
    return !this.failed;
  }

  /**
   * Watches these folders, by their paths below the directory, and no other.
   * @returns whether one of them was not watched before: what has happened in it until now was not told
   */
  follow(folders: readonly string[]): boolean {
    const wanted = new Set(['', ...(WATCHES_DEEP ? [] : folders)]);
    for (const [folder, { identity }] of this.watchers) {
      // A folder that was removed and made anew is another one, of which the old watch hears nothing.
      if (!wanted.has(folder) || this.identityOf(folder) !== identity) this.unwatch(folder);
    }
    let added = false;
    for (const folder of wanted) if (!this.watchers.has(folder)) added = this.add(folder) || added;
    return added;
  }

  close(): void {
    for (const folder of [...this.watchers.keys()]) this.unwatch(folder);
  }

  /** A folder that is gone already is no failure; a system that has no watches left is. */
  private add(folder: string): boolean {
    if (this.failed) return false;
    try {
      const watcher = watch(join(this.directory, folder), { recursive: WATCHES_DEEP, persistent: false });
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

  /** Some file systems give the number of a folder that was removed to the next one that is made: its birth tells them apart. */
  private identityOf(folder: string): string | null {
    const stats = statSync(join(this.directory, folder), { bigint: true, throwIfNoEntry: false });
    return stats === undefined ? null : `${stats.dev}:${stats.ino}:${stats.birthtimeNs}`;
  }
}

function tellsNothing(directory: string): boolean {
  try {
    return TELLS_NOTHING.has(Number(statfsSync(directory).type));
  } catch {
    return false;
  }
}
