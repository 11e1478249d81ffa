import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { FolderGuard, isSameFolder } from './folder-guard.js';
import type { WorkspaceRoot } from '../disk/located-path.js';

describe('a guarded folder', () => {
  let home: string;
  let directory: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'patchbay-guard-'));
    directory = join(home, 'proj');
    await make('ours');
  });
  afterEach(() => rm(home, { recursive: true, force: true }));

  const guard = () => new FolderGuard({ directory } as WorkspaceRoot);
  /** Longer than a tick of the file system's clock, so that the birth time differs from the last change. */
  const TICK_MS = 20;

  async function make(name: string): Promise<void> {
    await mkdir(directory);
    await setTimeout(TICK_MS);
    await writeFile(join(directory, name), '');
  }

  it('accepts changes of its entries', async () => {
    const guarded = guard();
    await writeFile(join(directory, 'another'), '');
    await rm(join(directory, 'ours'));
    expect(() => guarded.check()).not.toThrow();
  });

  it('detects a replaced folder, even one with the same inode', async () => {
    const moved = guard();
    await rename(directory, join(home, 'away'));
    await make('another');
    expect(() => moved.check()).toThrow('was replaced by another folder');
    // Some file systems reuse inodes, so at least one of these folders has that of its predecessor.
    for (let n = 0; n < 10; n += 1) {
      const removed = guard();
      await rm(directory, { recursive: true });
      await make('another');
      expect(() => removed.check()).toThrow('was replaced by another folder');
    }
  });

  it('compares only inodes if no birth time is known', () => {
    expect(isSameFolder('1:23', '1:23:456')).toBe(true);
    expect(isSameFolder('1:23:456', '1:23:456')).toBe(true);
    expect(isSameFolder('1:23:456', '1:23:457')).toBe(false);
    expect(isSameFolder('1:2', '1:23:456')).toBe(false);
    expect(isSameFolder('2:23', '1:23:456')).toBe(false);
  });
});
