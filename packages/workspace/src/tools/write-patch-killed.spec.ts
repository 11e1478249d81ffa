import * as disk from 'node:fs/promises';
import { basename, join } from 'node:path';

import { sha256 } from '@patchbay/protocol/hash';

import { type FileSystem } from '../disk/file-system.js';

import { errno } from '../disk/walked-folder.sample.js';
import { KilledPatch, NAMES, NEW, OLD, statuses } from './write-patch-killed.sample.js';

describe('a client that was killed during a patch batch', () => {
  const client = new KilledPatch();
  const { atEveryMoment, carryOn, contents, real, restart } = client;
  beforeEach(() => client.open());
  afterEach(() => client.close());

  it('writes the whole batch once, whatever the moment', async () => {
    await atEveryMoment({}, async (moment) => {
      const journal = await restart();
      const atRestart = await contents();
      expect([OLD.join(), NEW.join()]).toContain(atRestart.join());
      const result = await carryOn(journal);
      expect([moment, result.success, await contents()]).toEqual([moment, true, NEW]);
      expect(statuses(result)).toEqual(['applied', 'rejected', 'applied', 'applied']);
      expect(result.files[3]).toMatchObject({ newSha256: sha256('d\nnew\n') });
      expect(result.files[1]!.changes[0]).toMatchObject({ status: 'rejected' });
      expect([moment, (await disk.readdir(client.root)).sort()]).toEqual([moment, NAMES]);
      expect((await disk.stat(join(client.root, 'd'))).mode & 0o777).toBe(0o640);
    });
  }, 120_000);

  it('writes it once without hard links, too', async () => {
    const link = () => Promise.reject(errno('EPERM'));
    await atEveryMoment({ link }, async (moment) => {
      const result = await carryOn(await restart());
      expect([moment, result.success, await contents()]).toEqual([moment, true, NEW]);
      expect([moment, (await disk.readdir(client.root)).sort()]).toEqual([moment, NAMES]);
    });
  }, 120_000);

  it('writes all or nothing if the last file fails, whatever the moment', async () => {
    const rename: FileSystem['rename'] = (from, to) =>
      basename(to) === 'd' ? Promise.reject(errno('EIO')) : real.rename(from, to);
    await atEveryMoment({ rename }, async (moment) => {
      const result = await carryOn(await restart());
      const after = await contents();
      expect([moment, [true, false]]).toEqual([moment, expect.arrayContaining([result.success])]);
      expect([moment, after]).toEqual([moment, result.success ? NEW : OLD]);
      if (!result.success) {
        expect(statuses(result)).toEqual(['skipped', 'rejected', 'skipped', 'failed']);
        expect(result.files[3]).toMatchObject({ errorCode: 'WriteFailed' });
      }
      expect([moment, (await disk.readdir(client.root)).sort()]).toEqual([moment, NAMES]);
    });
  }, 120_000);
});
