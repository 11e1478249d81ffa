import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file system of its own that holds little, so that a test can fill it. Only for tests of `describeWith('mount', …)`. */
export class SmallDisk {
  private constructor(readonly path: string) {}

  /** @param mebibytes how much it holds. */
  static mount(mebibytes: number): SmallDisk {
    const path = mkdtempSync(join(tmpdir(), 'patchbay-disk-'));
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'none', path]);
    return new SmallDisk(path);
  }

  /** Takes all that is free, but for so many bytes. */
  fill(butBytes = 0): void {
    const { bavail, bsize } = statfsSync(this.path);
    writeFileSync(this.filler, Buffer.alloc(Math.max(0, bavail * bsize - butBytes)));
  }

  /** Gives back what was taken. */
  free(): void {
    rmSync(this.filler, { force: true });
  }

  unmount(): void {
    execFileSync('umount', ['--lazy', this.path]);
    rmSync(this.path, { recursive: true });
  }

  private get filler(): string {
    return join(this.path, 'filler');
  }
}
