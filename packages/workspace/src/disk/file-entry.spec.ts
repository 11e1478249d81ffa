import * as disk from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { sha256 } from '@patchbay/protocol/hash';

import { hashFile, readFile } from './file-entry.js';
import { type FileSystem, realFileSystem } from './file-system.js';
import { openDirectory } from './open-directory.js';
import type { SafeDirectory } from './safe-directory.js';

describe('reading a file', () => {
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

  it('rejects more than the limit, while hashing has no limit', async () => {
    const bytes = Buffer.alloc(3 * 1024 * 1024, 7);
    await disk.writeFile(join(root, 'a'), bytes);
    await expect(readFile(realFileSystem, directory, 'a', bytes.length - 1)).rejects.toMatchObject({
      code: 'TooLarge',
    });
    expect((await hashFile(realFileSystem, directory, 'a'))!.sha256).toBe(sha256(bytes));
  });

  it('rejects a link, even one that replaces the file right before the open', async () => {
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
