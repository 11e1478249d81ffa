import { mkdtemp, open, readFile, readdir, readlink, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jest } from '@jest/globals';

import { openDiskJournal } from './disk-journals.js';
import { JournalFile } from './journal-file.js';

const describeOnLinux = process.platform === 'linux' ? describe : describe.skip;

/** Files in `directory` that this process has open. */
async function openFilesBelow(directory: string): Promise<string[]> {
  const links = await readdir('/proc/self/fd');
  const files = await Promise.all(links.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')));
  return files.filter((file) => file.startsWith(directory));
}

describeOnLinux('the file handles of a journal', () => {
  let directory: string;
  let handles: FileHandle;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'patchbay-journal-file-'));
    const probe = await open(join(directory, 'probe'), 'w');
    handles = Object.getPrototypeOf(probe) as FileHandle;
    await probe.close();
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await rm(directory, { recursive: true });
  });

  it('are closed, and appends continue, when closing the replaced file fails', async () => {
    const file = await JournalFile.open(directory, 'journal', () => 'kept\n');
    await file.append('old\n', true, () => {});
    const { handle } = file as unknown as { handle: FileHandle };
    const close = handle.close.bind(handle);
    handle.close = async () => {
      await close();
      throw new Error('EIO');
    };
    await file.compact();
    await file.append('new\n', true, () => {});
    await file.close();
    expect(await readFile(join(directory, 'journal'), 'utf8')).toBe('kept\nnew\n');
    expect(await openFilesBelow(directory)).toEqual([]);
  });

  it('are closed when the journal cannot be opened', async () => {
    jest.spyOn(handles, 'stat').mockRejectedValueOnce(new Error('EIO'));
    await expect(JournalFile.open(directory, 'journal', () => '')).rejects.toThrow('EIO');
    expect(await openFilesBelow(directory)).toEqual([]);
  });

  it('are closed when the journal cannot be read', async () => {
    jest.spyOn(JournalFile.prototype, 'read').mockRejectedValueOnce(new Error('EIO'));
    await expect(openDiskJournal(directory)).rejects.toThrow('EIO');
    expect(await openFilesBelow(directory)).toEqual([]);
  });
});
