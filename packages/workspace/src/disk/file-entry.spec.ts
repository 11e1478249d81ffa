import * as disk from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { sha256 } from '@patchbay/protocol/hash';

import { hashFile, readFile, statFile } from './file-entry.js';
import { type FileSystem, realFileSystem } from './file-system.js';
import { openDirectory } from './open-directory.js';
import type { SafeDirectory } from './safe-directory.js';

describe('reading a file of the workspace', () => {
  let root: string;
  let directory: SafeDirectory;
  beforeEach(async () => {
    root = await disk.realpath(await disk.mkdtemp(join(tmpdir(), 'patchbay-read-')));
    directory = (await openDirectory(realFileSystem, root, []))!;
  });
  afterEach(async () => {
    await directory.close();
    await disk.rm(root, { recursive: true });
  });

  it('gives its bytes, their sha256 and its mode', async () => {
    const bytes = Buffer.from([0xff, 0, 0x0d, 0x0a]);
    await disk.writeFile(join(root, 'a'), bytes, { mode: 0o640 });
    expect(await readFile(realFileSystem, directory, 'a', 4)).toMatchObject({
      bytes,
      sha256: sha256(bytes),
      sizeBytes: 4,
      mode: 0o640,
    });
  });

  it('stops at the limit, which hashing has not', async () => {
    const bytes = Buffer.alloc(3 * 1024 * 1024, 7);
    await disk.writeFile(join(root, 'a'), bytes);
    await expect(readFile(realFileSystem, directory, 'a', bytes.length - 1)).rejects.toMatchObject({
      code: 'TooLarge',
    });
    expect((await hashFile(realFileSystem, directory, 'a'))!.sha256).toBe(sha256(bytes));
  });

  it('gives null where there is nothing', async () => {
    expect(await statFile(realFileSystem, directory, 'a')).toBeNull();
    expect(await readFile(realFileSystem, directory, 'a', 1)).toBeNull();
  });

  it('follows no link, not even one that takes the place of a file at the last moment', async () => {
    await disk.writeFile(join(root, 'a'), 'mine');
    const open: FileSystem['open'] = async (path, flags, mode) => {
      await disk.unlink(join(root, 'a'));
      await disk.symlink('/etc/hostname', join(root, 'a'));
      return realFileSystem.open(path, flags, mode);
    };
    const swapping = { ...realFileSystem, open };
    await expect(readFile(swapping, directory, 'a', 1000)).rejects.toMatchObject({ code: 'InvalidPath' });
    await expect(readFile(realFileSystem, directory, 'a', 1000)).rejects.toMatchObject({
      code: 'InvalidPath',
    });
  });
});
