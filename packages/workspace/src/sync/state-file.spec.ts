import { jest } from '@jest/globals';
import * as fs from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Synced files with their sizes at that time. */
const synced: { path: string; sizeBytes: number }[] = [];
jest.unstable_mockModule('node:fs', () => ({
  ...fs,
  default: fs,
  fsyncSync: (fd: number) => {
    synced.push({ path: fs.readlinkSync(`/proc/self/fd/${fd}`), sizeBytes: fs.fstatSync(fd).size });
    fs.fsyncSync(fd);
  },
}));
const { StateFile } = await import('./state-file.js');

describe('the file of a folder state', () => {
  it('is synced completely before it replaces the old one', async () => {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'patchbay-state-')));
    const file = new StateFile(folder);
    await file.append(
      () => {},
      () => [],
      () => ['a line', 'another'],
    );
    const path = join(folder, 'state');
    expect(synced).toEqual([{ path: `${path}.new`, sizeBytes: fs.statSync(path).size }]);
    expect(fs.readFileSync(path, 'utf8')).toMatch(/^#.+\na line\nanother\n$/);
    await rm(folder, { recursive: true });
  });
});
