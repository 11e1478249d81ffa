import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileChange } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { LiveFolder } from './live-folder.js';
import { SyncFixture } from './sync-fixture.sample.js';

const REMOTE = sha256('there\n');

describe('a live folder', () => {
  const fixture = new SyncFixture();
  let folder: LiveFolder;
  let listings: number;
  let deleted: string[];
  let now: number;
  beforeEach(async () => {
    await fixture.open();
    await fixture.write('a.txt', 'here\n');
    fixture.state.noteBase('proj/a.txt', sha256('here\n'));
    [listings, now, deleted] = [0, 0, []];
    // The first listing fails.
    const list = async function* () {
      await Promise.resolve();
      if (++listings === 1) throw new Error('no answer');
      yield { docPath: 'proj/a.txt', path: '/proj/a.txt', sha256: REMOTE };
    };
    const commit = (changes: readonly FileChange[]) => {
      deleted.push(...changes.filter((change) => 'deleted' in change).map(({ path }) => path));
      return Promise.resolve(changes.map(() => ({})));
    };
    folder = new LiveFolder({
      ...fixture.sync({ list, commit, read: () => Promise.resolve(null) }),
      putFile: () => Promise.resolve({ ok: true, versionId: 'v', fileId: 'f', path: '/proj/a.txt' }),
      now: () => now,
    });
  });
  afterEach(async () => {
    await folder.stop();
    await fixture.close();
  });

  it('deletes nothing in the Cloud if all files are gone at once, and deletes a file that is gone beside others', async () => {
    await rm(join(fixture.directory, 'a.txt'));
    await folder.uploadChanged(['proj/a.txt']);
    expect(deleted).toEqual([]);
    now += 2_000;
    await folder.uploadChanged(['proj/a.txt']);
    expect(deleted).toEqual([]);
    await fixture.write('b.txt', 'left\n');
    await folder.uploadChanged(['proj/a.txt']);
    expect(deleted).toEqual(['proj/a.txt']);
  });

  it('compares with the Cloud again after a failed comparison, even if single changes are reported meanwhile', async () => {
    folder.start({ watch: false });
    for (let n = 0; n < 30 && listings < 2; n += 1) {
      await new Promise((resolve) => setTimeout(resolve, 200));
      folder.filesChanged([{ docPath: 'proj/a.txt', path: '/proj/a.txt', sha256: REMOTE }]);
    }
    expect(listings).toBe(2);
  }, 15_000);
});
