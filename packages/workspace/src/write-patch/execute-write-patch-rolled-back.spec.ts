import * as disk from 'node:fs/promises';
import { basename, join } from 'node:path';

import type { WriteLog } from '@patchbay/client/relay';

import { type FileSystem } from '../disk/file-system.js';
import { executeWritePatch } from './execute-write-patch.js';
import { errno, isTemp, WALKS } from '../disk/walked-folder.sample.js';
import { batchOf, insert, PatchedFolder, statuses } from './write-patch.sample.js';

describe.each(WALKS)('workspace_write_patch, walking %s', (_how, hasHandlePaths) => {
  const folder = new PatchedFolder(hasHandlePaths);
  const { fs, patch, tree, read, write } = folder;
  beforeEach(() => folder.open());
  afterEach(() => folder.close());

  describe('a batch is rolled back', () => {
    const files = ['a', 'b', 'c'].map((name) => ({
      docPath: `repo/${name}`,
      original: `${name}\n`,
      changes: [insert(1, 'new')],
    }));
    beforeEach(async () => {
      for (const name of ['a', 'b', 'c']) await write(name, `${name}\n`);
      await disk.chmod(join(folder.root, 'a'), 0o640);
    });
    const contents = async () => [await read('a'), await read('b'), await read('c')];
    /** Fails the rename of the temp file of `name`. */
    const failing = (
      name: string,
      also: () => Promise<void> = async () => {},
      code = 'EIO',
    ): Partial<FileSystem> => ({
      rename: async (from, to) => {
        if (basename(to) !== name) return fs.rename(from, to);
        await also();
        throw errno(code);
      },
    });

    it('if a later file cannot be written, and the user is told what to do', async () => {
      const before = await disk.stat(join(folder.root, 'a'));
      const result = await patch(batchOf(...files), { faults: failing('c', undefined, 'EBUSY') });
      expect(statuses(result)).toEqual(['skipped', 'skipped', 'failed']);
      expect(result.files[2]).toMatchObject({ errorCode: 'WriteFailed' });
      expect(result.files[2]!.message).toMatch(
        /another program has it open.* Close it there, then try again\./,
      );
      expect(result.files[0]!.message).toContain('rolled back');
      expect(await contents()).toEqual(['a\n', 'b\n', 'c\n']);
      const after = await disk.stat(join(folder.root, 'a'));
      expect([after.ino, after.mode, after.mtimeMs]).toEqual([before.ino, before.mode, before.mtimeMs]);
    });

    it('if a file in the middle cannot be written, and no later one is written', async () => {
      const result = await patch(batchOf(...files), { faults: failing('b') });
      expect(statuses(result)).toEqual(['skipped', 'failed', 'skipped']);
      expect(await contents()).toEqual(['a\n', 'b\n', 'c\n']);
    });

    const remove = (name: string) => disk.rm(join(folder.root, name));
    /** Saves as editors do, by renaming another file. */
    const save = async (name: string) => {
      await write('saved', 'mine\n');
      await disk.rename(join(folder.root, 'saved'), join(folder.root, name));
    };
    it.each([
      {
        what: 'b is saved after its original got a second name',
        after: () => save('b'),
        at: 1,
        left: 'mine\n',
      },
      {
        what: 'b is deleted before its original gets a second name',
        before: () => remove('b'),
        at: 1,
        left: null,
      },
      { what: 'c has changed since the check', before: () => save('c'), at: 2, left: 'mine\n' },
      { what: 'c is gone since the check', before: () => remove('c'), at: 2, left: null },
    ])('if $what, which stays so', async ({ before, after, at, left }) => {
      const link: FileSystem['link'] = async (from, to) => {
        if (basename(from) === 'b') await before?.();
        await fs.link(from, to);
        if (basename(from) === 'b') await after?.();
      };
      const result = await patch(batchOf(...files), { faults: { link } });
      const isAt = (index: number) => index === at;
      const failure = left === null ? ['failed', 'NOT_FOUND'] : ['conflict', 'STALE'];
      expect(result.files.map(({ status, errorCode }) => [status, errorCode])).toEqual(
        files.map((_, index) => (isAt(index) ? failure : ['skipped', null])),
      );
      const names = ['a', 'b', 'c'].filter((_, index) => left !== null || !isAt(index));
      expect(await tree()).toEqual(names);
      const texts = await Promise.all(names.map(read));
      expect(texts).toEqual(names.map((name) => (left !== null && name === 'abc'[at] ? left : `${name}\n`)));
    });

    it('with copies on a disk without hard links', async () => {
      const faults = { ...failing('c'), link: () => Promise.reject(errno('EOPNOTSUPP')) };
      await patch(batchOf(...files), { faults });
      expect(await contents()).toEqual(['a\n', 'b\n', 'c\n']);
      expect((await disk.stat(join(folder.root, 'a'))).mode & 0o777).toBe(0o640);
    });

    it('except for a file that someone has changed meanwhile, which is reported', async () => {
      const faults = failing('c', () => write('a', 'mine\n'));
      const result = await patch(batchOf(...files), { faults });
      expect(statuses(result)).toEqual(['applied', 'skipped', 'failed']);
      expect(result.files[0]!.message).toContain('could not be restored');
      expect([result.success, await contents()]).toEqual([false, ['mine\n', 'b\n', 'c\n']]);
    });

    it('before the first write if a file cannot be staged', async () => {
      const open: FileSystem['open'] = (path, flags, mode) =>
        isTemp(path) ? Promise.reject(errno('ENOSPC')) : fs.open(path, flags, mode);
      const result = await patch(batchOf(...files), { faults: { open } });
      expect(statuses(result).sort()).toEqual(['failed', 'skipped', 'skipped']);
      expect(result.files.find(({ status }) => status === 'failed')!.message).toContain('the disk is full');
      expect(await contents()).toEqual(['a\n', 'b\n', 'c\n']);
    });

    it('without leftovers if only the last file cannot be staged', async () => {
      let staged = 0;
      const open: FileSystem['open'] = (path, flags, mode) =>
        isTemp(path) && ++staged === files.length
          ? Promise.reject(errno('ENOSPC'))
          : fs.open(path, flags, mode);
      const result = await patch(batchOf(...files), { faults: { open } });
      expect([staged, statuses(result).sort()]).toEqual([files.length, ['failed', 'skipped', 'skipped']]);
      expect([await contents(), await tree()]).toEqual([
        ['a\n', 'b\n', 'c\n'],
        ['a', 'b', 'c'],
      ]);
    });

    it('after the journal has the reason, so that a restarted client continues', async () => {
      const steps: unknown[] = [];
      const log: WriteLog = {
        intend: async (intents) => {
          // A slow journal, which takes longer than the restore of a file.
          for (let n = 0; n < 100; n++) await disk.stat(folder.root);
          const { stage, failure } = intents[2]!.patch!;
          steps.push([stage, failure?.errorCode]);
        },
        committing: async () => {},
      };
      const faults = failing('c');
      const rename: FileSystem['rename'] = async (from, to) => {
        steps.push(basename(to));
        return faults.rename!(from, to);
      };
      await executeWritePatch({ ...folder.context, fs: { ...fs, rename } }, batchOf(...files), null, log);
      const before = [[undefined, undefined], 'a', 'b', 'c'];
      expect(steps).toEqual([...before, ['undo', 'WriteFailed'], 'b', 'a']);
    });

    it('before the first write if the journal cannot be written', async () => {
      const log = { intend: () => Promise.reject(errno('ENOSPC')), committing: async () => {} };
      const result = await executeWritePatch(folder.context, batchOf(...files), null, log);
      expect(result.files[0]).toMatchObject({ status: 'failed', errorCode: 'WriteFailed' });
      expect(result.files[0]!.message).toContain('journal');
      expect([await contents(), await tree()]).toEqual([
        ['a\n', 'b\n', 'c\n'],
        ['a', 'b', 'c'],
      ]);
    });
  });
});
