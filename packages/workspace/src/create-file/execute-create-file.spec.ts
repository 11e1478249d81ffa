import * as disk from 'node:fs/promises';
import { join } from 'node:path';

import { contentHash } from '@patchbay/protocol/hash';

import { type FileSystem } from '../disk/file-system.js';
import type { FolderLedger } from '../disk/folder-ledger.js';
import { WorkspaceRoots } from '../disk/workspace-roots.js';
import { errno, isTemp, WALKS } from '../disk/walked-folder.sample.js';
import { executeCreateFile } from './execute-create-file.js';
import { CreatedIn, refusal } from './create-file.sample.js';

describe.each(WALKS)('workspace_create_file, walking %s', (_how, hasHandlePaths) => {
  const folder = new CreatedIn(hasHandlePaths);
  const { fs, create, tree, read } = folder;
  beforeEach(() => folder.open());
  afterEach(() => folder.close());

  describe('a create', () => {
    it('writes a new file with its parents and reports it', async () => {
      expect(await create({ path: 'src\\Services/./Foo.cs', content: 'using System;\n' })).toEqual({
        success: true,
        message: 'File created.',
        path: 'src/Services/Foo.cs',
        docPath: 'root/src/services/foo.cs',
        sizeBytes: 14,
        hash: contentHash('using System;\n'),
        created: true,
        overwritten: false,
        errorCode: null,
      });
      expect(await read('src/Services/Foo.cs')).toBe('using System;\n');
      expect(await tree()).toEqual(['src', 'src/Services', 'src/Services/Foo.cs']);
    });

    it('replaces a file with overwrite', async () => {
      await disk.writeFile(join(folder.root, 'a'), 'old');
      expect(await create({ path: 'a', content: 'new', overwrite: true })).toMatchObject({
        success: true,
        message: 'File overwritten.',
        created: false,
        overwritten: true,
      });
      expect(await read('a')).toBe('new');
      expect(await tree()).toEqual(['a']);
    });

    it.each([
      [false, ['a', 'a.patchbay-kept']],
      [true, ['a']],
    ])(
      'keeps the replaced content under a second name unless the Cloud has it: %s',
      async (isInCloud, left) => {
        await disk.writeFile(join(folder.root, 'a'), 'old');
        const ledger = { isInCloud: () => isInCloud } as unknown as FolderLedger;
        await create({ path: 'a', content: 'x', overwrite: true }, {}, { ledger });
        expect([await tree(), await read('a'), await read(left.at(-1)!)]).toEqual([
          left,
          'x',
          isInCloud ? 'x' : 'old',
        ]);
      },
    );

    it('writes UTF-8 without BOM and with \\n endings, and counts and hashes these bytes [CREATE-3]', async () => {
      const result = await create({ path: 'a', content: '\ufeffä\r\nb\rc\n' });
      expect(await disk.readFile(join(folder.root, 'a'))).toEqual(Buffer.from('ä\nb\nc\n'));
      expect(result).toMatchObject({ sizeBytes: 7, hash: contentHash('ä\nb\nc\n') });
    });

    it('treats an overwrite of null as false', async () => {
      expect(await create({ path: 'a', content: '', overwrite: null })).toMatchObject({
        ...{ created: true, sizeBytes: 0 },
      });
      expect(await read('a')).toBe('');
      expect(await create({ path: 'a', content: 'b', overwrite: null })).toMatchObject(
        refusal('a', 'FileExists'),
      );
    });

    it('gives a new file 0666 less the umask, and a replacement the mode of the old file', async () => {
      await create({ path: 'new', content: '' });
      await disk.writeFile(join(folder.root, 'run.sh'), '');
      await disk.chmod(join(folder.root, 'run.sh'), 0o555);
      expect(await create({ path: 'run.sh', content: '#!', overwrite: true })).toMatchObject({
        success: true,
      });
      const modeOf = async (path: string) => (await disk.stat(join(folder.root, path))).mode & 0o7777;
      expect(await modeOf('new')).toBe(0o666 & ~process.umask());
      expect(await modeOf('run.sh')).toBe(0o555);
    });

    it('keeps a mode that was set during staging', async () => {
      await disk.writeFile(join(folder.root, 'a'), 'old', { mode: 0o640 });
      const log = { intend: async () => {}, committing: () => disk.chmod(join(folder.root, 'a'), 0o750) };
      await executeCreateFile(folder.context, { path: 'a', content: 'x', overwrite: true }, log);
      expect([await read('a'), (await disk.stat(join(folder.root, 'a'))).mode & 0o777]).toEqual(['x', 0o750]);
    });

    it('syncs text and mode before the rename, and the folder after it', async () => {
      await disk.writeFile(join(folder.root, 'a'), 'old', { mode: 0o640 });
      const steps: string[] = [];
      const open: FileSystem['open'] = async (path, flags, mode) => {
        const handle = await fs.open(path, flags, mode);
        const [sync, chmod] = [handle.sync.bind(handle), handle.chmod.bind(handle)];
        handle.sync = () => (steps.push(isTemp(path) ? 'sync text' : 'sync folder'), sync());
        handle.chmod = (to) => (steps.push('mode'), chmod(to));
        return handle;
      };
      const rename: FileSystem['rename'] = (from, to) => (steps.push('rename'), fs.rename(from, to));
      await create({ path: 'a', content: 'x', overwrite: true }, { open, rename });
      expect(steps).toEqual(['mode', 'sync text', 'rename', 'sync folder']);
    });

    it('writes into the root that the first component names', async () => {
      await disk.mkdir(join(folder.base, 'web'));
      const roots = await WorkspaceRoots.open([
        { directory: folder.root },
        { directory: join(folder.base, 'web') },
      ]);
      const result = await create({ path: 'web/a.ts', content: 'x' }, {}, { roots });
      expect(result).toMatchObject({ success: true, path: 'web/a.ts' });
      expect(await disk.readFile(join(folder.base, 'web', 'a.ts'), 'utf8')).toBe('x');
      expect(await create({ path: 'nope/a.ts', content: 'x' }, {}, { roots })).toEqual(
        refusal('nope/a.ts', 'InvalidPath'),
      );
    });

    it('replaces a hard link without changing its other name', async () => {
      await disk.writeFile(join(folder.base, 'elsewhere'), 'old');
      await disk.link(join(folder.base, 'elsewhere'), join(folder.root, 'a'));
      await create({ path: 'a', content: 'new', overwrite: true });
      expect(await disk.readFile(join(folder.base, 'elsewhere'), 'utf8')).toBe('old');
    });

    it('creates its folder again if another process removes it before the write', async () => {
      let removed = false;
      const open: FileSystem['open'] = async (path, flags, mode) => {
        if (isTemp(path) && !removed) {
          removed = true;
          await disk.rm(join(folder.root, 'a'), { recursive: true });
        }
        return fs.open(path, flags, mode);
      };
      const result = await create({ path: 'a/b', content: 'x' }, { open });
      expect([removed, result.success]).toEqual([true, true]);
    });
  });

  describe('a create concurrent with other writers', () => {
    it.each([false, true])('succeeds for exactly one of many creators, overwrite %s', async (overwrite) => {
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, n) => create({ path: 'd/a', content: `from ${n}`, overwrite })),
      );
      expect(results.filter((result) => result.created)).toHaveLength(1);
      const others = results.filter((result) => !result.created);
      expect(new Set(others.map((result) => result.errorCode))).toEqual(
        new Set([overwrite ? null : 'FileExists']),
      );
      if (!overwrite) {
        const winner = results.findIndex((result) => result.created);
        expect(await read('d/a')).toBe(`from ${winner}`);
      }
      expect(await tree()).toEqual(['d', 'd/a']);
    });

    it.each([
      ['', fs.link],
      [', where the disk has no hard links', () => Promise.reject(errno('EPERM'))],
    ])('does not overwrite a file that appears right before the link%s', async (_where, then) => {
      const link: FileSystem['link'] = async (existing, path) => {
        await disk.writeFile(join(folder.root, 'a'), 'mine');
        return then(existing, path);
      };
      expect(await create({ path: 'a', content: 'x' }, { link })).toEqual(refusal('a', 'FileExists'));
      expect([await read('a'), await tree()]).toEqual(['mine', ['a']]);
    });

    it.each(['the folder', 'its parent'])(
      'writes nothing outside of the root when %s is replaced by a link',
      async (which) => {
        await disk.mkdir(join(folder.root, 'a', 'b'), { recursive: true });
        await disk.mkdir(join(folder.base, 'outside', 'b'), { recursive: true });
        const victim = which === 'the folder' ? join(folder.root, 'a', 'b') : join(folder.root, 'a');
        const lure =
          which === 'the folder' ? join(folder.base, 'outside', 'b') : join(folder.base, 'outside');
        let calls = 0;
        // The swap is tried before each system call in turn.
        for (let moment = 0; moment < 40; moment++) {
          calls = 0;
          let swapped = false;
          const swap = async () => {
            if (calls++ !== moment) return;
            swapped = true;
            await disk.rename(victim, join(folder.base, 'was'));
            await disk.symlink(lure, victim);
          };
          const before =
            <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
            async (...args: A): Promise<R> => {
              await swap();
              return call(...args);
            };
          // Only descriptors cover the instant between the last check and the call itself.
          const faults: Partial<FileSystem> = hasHandlePaths
            ? {
                open: before(fs.open),
                lstat: before(fs.lstat),
                link: before(fs.link),
                unlink: before(fs.unlink),
              }
            : { lstat: before(fs.lstat) };
          await create({ path: `a/b/f${moment}`, content: 'x' }, faults);
          expect([moment, await disk.readdir(join(folder.base, 'outside'), { recursive: true })]).toEqual([
            moment,
            ['b'],
          ]);
          if (!swapped) break;
          await disk.unlink(victim);
          await disk.rename(join(folder.base, 'was'), victim);
        }
        expect(calls).toBeLessThan(40);
      },
    );
  });
});
