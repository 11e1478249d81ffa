import { execFileSync } from 'node:child_process';
import * as disk from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';

import { type FileSystem, type OpenFile } from '../disk/file-system.js';
import { errno, isTemp, WALKS } from '../disk/walked-folder.sample.js';
import { executeCreateFile } from './execute-create-file.js';
import { CreatedIn, refusal } from './create-file.sample.js';

describe.each(WALKS)('workspace_create_file, walking %s', (_how, hasHandlePaths) => {
  const folder = new CreatedIn(hasHandlePaths);
  const { fs, create, tree, read } = folder;
  beforeEach(() => folder.open());
  afterEach(() => folder.close());

  describe('a create that fails', () => {
    it('answers FileExists and keeps the existing file [CREATE-1]', async () => {
      await disk.writeFile(join(folder.root, 'a'), 'mine');
      expect(await create({ path: './a', content: 'x', overwrite: false })).toEqual(
        refusal('a', 'FileExists'),
      );
      expect(await read('a')).toBe('mine');
    });

    it('answers InvalidPath for an invalid path, and shows the path as given', async () => {
      for (const path of ['', '  ', '/etc/x', '../x', 'a/../b', 'C:/x', 'nul', '.git/config', 'a/']) {
        expect(await create({ path, content: 'x' })).toEqual(refusal(path, 'InvalidPath'));
      }
      expect(await create({ path: '\\\\host\\x', content: 'x' })).toEqual(refusal('//host/x', 'InvalidPath'));
      expect(await create({ path: 7, content: 'x' })).toEqual(refusal('', 'InvalidPath'));
      expect(await create(null)).toEqual(refusal('', 'InvalidPath'));
      expect(await tree()).toEqual([]);
    });

    it('answers InvalidPath for a link as parent or file, with and without overwrite [CREATE-2]', async () => {
      await disk.writeFile(join(folder.base, 'target'), 'mine');
      await disk.symlink(folder.base, join(folder.root, 'folder'));
      await disk.symlink(join(folder.base, 'target'), join(folder.root, 'file'));
      await disk.symlink(join(folder.base, 'nowhere'), join(folder.root, 'dangling'));
      for (const path of ['folder/x', 'file', 'dangling']) {
        for (const overwrite of [true, false]) {
          expect(await create({ path, content: 'x', overwrite })).toEqual(refusal(path, 'InvalidPath'));
        }
      }
      expect(await disk.readFile(join(folder.base, 'target'), 'utf8')).toBe('mine');
      expect(await disk.readdir(folder.base)).toEqual(['root', 'target']);
    });

    it('answers DirectoryCreateFailed if a parent is a file', async () => {
      await disk.writeFile(join(folder.root, 'a'), '');
      expect(await create({ path: 'a/b/c', content: 'x' })).toEqual(
        refusal('a/b/c', 'DirectoryCreateFailed'),
      );
    });

    it('answers WriteFailed if a folder, FIFO or socket has the name', async () => {
      await disk.mkdir(join(folder.root, 'folder'));
      execFileSync('mkfifo', [join(folder.root, 'fifo')]);
      const server = createServer().listen(join(folder.root, 'socket'));
      await new Promise((resolve) => server.once('listening', resolve));
      for (const path of ['folder', 'fifo', 'socket']) {
        for (const overwrite of [true, false]) {
          expect(await create({ path, content: 'x', overwrite })).toEqual(refusal(path, 'WriteFailed'));
        }
      }
      expect(await tree()).toEqual(['fifo', 'folder', 'socket']);
      await new Promise((resolve) => server.close(resolve));
    });

    it('answers WriteFailed for content that is not text or has a lone surrogate', async () => {
      for (const content of [undefined, null, 7, 'a\ud800b', '\udc00']) {
        expect(await create({ path: 'a', content })).toEqual(refusal('a', 'WriteFailed'));
      }
      expect((await create({ path: 'a', content: '\ud800' })).message).toContain('lone surrogate');
      expect(await create({ path: 'a', content: 'x', overwrite: 'yes' })).toEqual(
        refusal('a', 'WriteFailed'),
      );
      expect(await tree()).toEqual([]);
    });

    it('answers TooLarge above the limit, counted after normalizing line endings', async () => {
      const limit = { maxFileBytes: 4 };
      expect(await create({ path: 'a', content: 'ä\r\nb' }, {}, limit)).toMatchObject({
        success: true,
        sizeBytes: 4,
      });
      expect(await create({ path: 'd/b', content: 'ä\r\nbc' }, {}, limit)).toEqual(
        refusal('d/b', 'TooLarge'),
      );
      expect(await tree()).toEqual(['a']);
    });

    it('answers TooLarge above the default limit of 8 MiB', async () => {
      const content = 'x'.repeat(8 * 1024 * 1024);
      expect(await create({ path: 'a', content })).toMatchObject({ success: true });
      expect(await create({ path: 'b', content: content + 'x' })).toEqual(refusal('b', 'TooLarge'));
    });

    it('answers HashFailed and leaves nothing behind [CREATE-4]', async () => {
      const sha256 = () => {
        throw new Error('no OpenSSL');
      };
      expect(await create({ path: 'd/a', content: 'x' }, { sha256 })).toEqual(refusal('d/a', 'HashFailed'));
      expect(await tree()).toEqual([]);
    });

    it('answers UnhandledException without details for an unexpected error', async () => {
      const lstat = () => Promise.reject(new TypeError('secret'));
      expect(await create({ path: 'd/a', content: 'x' }, { lstat })).toEqual(
        refusal('d/a', 'UnhandledException'),
      );
      expect(await tree()).toEqual([]);
    });

    const onTemp = (change: (handle: OpenFile) => void): FileSystem['open'] => {
      return async (path, flags, mode) => {
        const handle = await fs.open(path, flags, mode);
        if (isTemp(path)) change(handle);
        return handle;
      };
    };
    const fullDisk = { open: onTemp((handle) => (handle.writeFile = () => Promise.reject(errno('ENOSPC')))) };
    it.each<[string, Partial<FileSystem>]>([
      ['the content', fullDisk],
      [
        'the sync of the file',
        { open: onTemp((handle) => (handle.sync = () => Promise.reject(errno('EIO')))) },
      ],
      ['the mode', { open: onTemp((handle) => (handle.chmod = () => Promise.reject(errno('EPERM')))) }],
      ['the rename', { rename: () => Promise.reject(errno('EBUSY')) }],
      ['the link', { link: () => Promise.reject(errno('EIO')) }],
      [
        'the rename that replaces a missing link',
        { link: () => Promise.reject(errno('EPERM')), rename: () => Promise.reject(errno('EBUSY')) },
      ],
    ])(
      'answers WriteFailed, leaves nothing new and keeps the old file if this fails: %s',
      async (what, faults) => {
        await disk.writeFile(join(folder.root, 'old'), 'mine');
        if (what !== 'the link') {
          const args = { path: 'old', content: 'x', overwrite: true };
          expect(await create(args, faults)).toEqual(refusal('old', 'WriteFailed'));
        }
        if (what !== 'the rename' && what !== 'the mode') {
          expect(await create({ path: 'd/e/new', content: 'x' }, faults)).toEqual(
            refusal('d/e/new', 'WriteFailed'),
          );
        }
        expect([await tree(), await read('old')]).toEqual([['old'], 'mine']);
      },
    );

    it.each([
      ['EBUSY', /another program has it open.* Close it there, then try again\./],
      ['EPERM', /another program has it open.* Close it there, or allow writing, then try again\./],
      ['EACCES', /another program has it open.* Close it there, or allow writing, then try again\./],
      ['ETXTBSY', /a program that is running\. End it, then try again\./],
    ])('says what the user can do if a file cannot be replaced because of %s', async (code, advice) => {
      await disk.writeFile(join(folder.root, 'old'), 'mine');
      const rename = () => Promise.reject(errno(code));
      const replaced = await create({ path: 'old', content: 'x', overwrite: true }, { rename });
      const withoutLinks = { rename, link: () => Promise.reject(errno('ENOSYS')) };
      const made = await create({ path: 'new', content: 'x' }, withoutLinks);
      for (const { message } of [replaced, made]) expect(message).toMatch(advice);
      expect([await tree(), await read('old')]).toEqual([['old'], 'mine']);
    });

    it('writes nothing if the journal cannot be written', async () => {
      const opened: string[] = [];
      const open: FileSystem['open'] = (path, ...how) => (opened.push(path), fs.open(path, ...how));
      const log = { intend: () => Promise.reject(errno('ENOSPC')), committing: async () => {} };
      const context = { ...folder.context, fs: { ...fs, open } };
      const result = await executeCreateFile(context, { path: 'd/a', content: 'x' }, log);
      expect([result.success, opened.filter(isTemp), await tree()]).toEqual([false, [], []]);
    });

    it('leaves nothing behind if the journal fails before the commit', async () => {
      const log = { intend: async () => {}, committing: () => Promise.reject(errno('ENOSPC')) };
      const result = await executeCreateFile(folder.context, { path: 'd/a', content: 'x' }, log);
      expect([result.success, await tree()]).toEqual([false, []]);
    });

    it('says what failed and why', async () => {
      expect((await create({ path: 'd/a', content: 'x' }, fullDisk)).message).toBe(
        '"a" could not be written: the disk is full.',
      );
      const open = () => Promise.reject(errno('EROFS'));
      expect((await create({ path: 'a', content: 'x' }, { open })).message).toMatch(
        /: the disk is read-only\.$|opened/,
      );
    });
  });
});
