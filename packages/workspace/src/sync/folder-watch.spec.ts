import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FolderWatch } from './folder-watch.js';

describe('a watched folder', () => {
  let directory: string;
  let hints: number;
  let watch: FolderWatch;
  beforeEach(async () => {
    directory = await realpath(await mkdtemp(join(tmpdir(), 'patchbay-watch-')));
    await mkdir(join(directory, 'in', 'deep'), { recursive: true });
    await mkdir(join(directory, 'out'));
    hints = 0;
    watch = new FolderWatch(directory, () => void (hints += 1));
  });
  afterEach(async () => {
    watch.close();
    await rm(directory, { recursive: true, force: true });
  });

  /** Whether the change is reported within 0.5 s. */
  const isReported = async (work: () => Promise<unknown>): Promise<boolean> => {
    const before = hints;
    await work();
    for (let n = 0; n < 50 && hints === before; n += 1)
      await new Promise((resolve) => setTimeout(resolve, 10));
    return hints > before;
  };
  const write = (path: string) => () => writeFile(join(directory, path), `${Math.random()}`);

  it('reports changes in the followed folders only', async () => {
    expect(watch.follow(['in', 'in/deep'])).toBe(true);
    expect(await isReported(write('a'))).toBe(true);
    expect(await isReported(write('in/deep/a'))).toBe(true);
    expect(await isReported(() => rm(join(directory, 'in/deep/a')))).toBe(true);
    expect(await isReported(write('out/a'))).toBe(false);
    expect(watch.isTrusted).toBe(true);
  });

  it('reports whether a folder is newly followed, and stops watching dropped folders', async () => {
    watch.follow(['in']);
    expect(watch.follow(['in'])).toBe(false);
    expect(watch.follow(['in', 'out'])).toBe(true);
    expect(await isReported(write('out/a'))).toBe(true);
    watch.follow(['in']);
    expect(await isReported(write('out/b'))).toBe(false);
  });

  it('watches a recreated folder, even one with the same inode', async () => {
    watch.follow(['in', 'out']);
    // Some file systems reuse inodes, so at least one of these folders has that of its predecessor.
    for (let n = 0; n < 10; n += 1) {
      await rm(join(directory, 'out'), { recursive: true });
      await mkdir(join(directory, 'out'));
      expect(watch.follow(['in', 'out'])).toBe(true);
    }
    // Waits for the reports of the deletions and creations.
    await isReported(() => Promise.resolve());
    expect(await isReported(write('out/a'))).toBe(true);
    expect(watch.follow(['in', 'out'])).toBe(false);
  });

  it('ignores a missing folder', () => {
    expect(watch.follow(['in', 'gone'])).toBe(true);
    expect(watch.isTrusted).toBe(true);
  });

  it('reports nothing once it is closed', async () => {
    watch.follow([]);
    watch.close();
    expect(await isReported(write('a'))).toBe(false);
  });
});
