import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DiskJournals } from '../home/disk-journals.js';
import type { Journals } from './journal-storage.js';
import { EXPECTED, PROMISES } from './journals.sample.js';
import { MemoryJournals } from './memory-journals.js';

describe.each<[string, (directory: string) => Journals]>([
  ['in memory', () => new MemoryJournals()],
  ['on a disk', (directory) => new DiskJournals(directory)],
])('journals %s', (_where, make) => {
  let directory: string;
  beforeEach(async () => void (directory = await mkdtemp(join(tmpdir(), 'patchbay-journals-'))));
  afterEach(() => rm(directory, { recursive: true }));

  it.each(Object.keys(PROMISES))('keep their word: %s', async (promise) => {
    expect(await PROMISES[promise]!(make(directory))).toEqual(EXPECTED[promise]);
  });
});
