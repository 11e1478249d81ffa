import { execFileSync } from 'node:child_process';
import * as disk from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

import { createFile as contract } from '@patchbay/protocol';
import { contentHash } from '@patchbay/protocol/hash';
import { Ajv } from 'ajv';

import { type FileSystem, type OpenFile, realFileSystem } from '../disk/file-system.js';
import type { WorkspaceContext } from '../disk/workspace-context.js';
import { WorkspaceRoots } from '../disk/workspace-roots.js';
import { executeCreateFile } from './execute-create-file.js';

const isValidResult = new Ajv().compile(contract.responseSchema);
const errno = (code: string) => Object.assign(new Error(`${code}: /secret/path`), { code });
const isTemp = (path: string) => basename(path).startsWith('.patchbay-');

describe.each([
  ['by descriptors', true],
  ['by paths', false],
])('workspace_create_file, walking %s', (_how, hasHandlePaths) => {
  const fs: FileSystem = { ...realFileSystem, hasHandlePaths };
  let base: string;
  let root: string;
  let context: WorkspaceContext;
  beforeEach(async () => {
    base = await disk.realpath(await disk.mkdtemp(join(tmpdir(), 'patchbay-create-')));
    root = join(base, 'root');
    await disk.mkdir(root);
    context = { roots: await WorkspaceRoots.open([{ directory: root }]), fs };
  });
  afterEach(() => disk.rm(base, { recursive: true, force: true }));

  const create = async (
    args: unknown,
    faults: Partial<FileSystem> = {},
    more: Partial<WorkspaceContext> = {},
  ) => {
    const result = await executeCreateFile({ ...context, fs: { ...fs, ...faults }, ...more }, args);
    expect(isValidResult(result)).toBe(true);
    expect(result.message).not.toMatch(/patchbay-create|\/proc\/|secret|E[A-Z]{4,}/);
    return result;
  };
  const refusal = (path: string, errorCode: string) => ({
    success: false,
    message: expect.any(String) as string,
    path,
    sizeBytes: 0,
    hash: '',
    created: false,
    overwritten: false,
    errorCode,
  });
  const tree = async () => (await disk.readdir(root, { recursive: true })).sort();
  const read = (path: string) => disk.readFile(join(root, path), 'utf8');

  describe('writes', () => {
    it('a new file with its parents, and says what it wrote', async () => {
      expect(await create({ path: 'src\\Services/./Foo.cs', content: 'using System;\n' })).toEqual({
        success: true,
        message: 'File created.',
        path: 'src/Services/Foo.cs',
        sizeBytes: 14,
        hash: contentHash('using System;\n'),
        created: true,
        overwritten: false,
        errorCode: null,
      });
      expect(await read('src/Services/Foo.cs')).toBe('using System;\n');
      expect(await tree()).toEqual(['src', 'src/Services', 'src/Services/Foo.cs']);
    });

    it('a replacement, with overwrite', async () => {
      await disk.writeFile(join(root, 'a'), 'old');
      expect(await create({ path: 'a', content: 'new', overwrite: true })).toMatchObject({
        success: true,
        message: 'File overwritten.',
        created: false,
        overwritten: true,
      });
      expect(await read('a')).toBe('new');
      expect(await tree()).toEqual(['a']);
    });

    it('a new file too, with overwrite, where there is none', async () => {
      const result = await create({ path: 'a', content: 'new', overwrite: true });
      expect(result).toMatchObject({ created: true, overwritten: false });
    });

    it('UTF-8 without BOM and with \\n endings, and counts and hashes those bytes [CREATE-3]', async () => {
      const result = await create({ path: 'a', content: '\ufeffä\r\nb\rc\n' });
      expect(await disk.readFile(join(root, 'a'))).toEqual(Buffer.from('ä\nb\nc\n'));
      expect(result).toMatchObject({ sizeBytes: 7, hash: contentHash('ä\nb\nc\n') });
    });

    it('an empty file', async () => {
      expect(await create({ path: 'a', content: '' })).toMatchObject({ success: true, sizeBytes: 0 });
      expect(await read('a')).toBe('');
    });

    it('what an overwrite of null means: none', async () => {
      expect(await create({ path: 'a', content: '', overwrite: null })).toMatchObject({ created: true });
      expect(await create({ path: 'a', content: 'b', overwrite: null })).toMatchObject(
        refusal('a', 'FileExists'),
      );
    });

    it('with 0666 less the umask when new, and the mode of the file that it replaces', async () => {
      await create({ path: 'new', content: '' });
      await disk.writeFile(join(root, 'run.sh'), '');
      await disk.chmod(join(root, 'run.sh'), 0o555);
      expect(await create({ path: 'run.sh', content: '#!', overwrite: true })).toMatchObject({
        success: true,
      });
      const modeOf = async (path: string) => (await disk.stat(join(root, path))).mode & 0o7777;
      expect(await modeOf('new')).toBe(0o666 & ~process.umask());
      expect(await modeOf('run.sh')).toBe(0o555);
    });

    it('into the root that the first component names, where several are connected', async () => {
      await disk.mkdir(join(base, 'web'));
      const roots = await WorkspaceRoots.open([{ directory: root }, { directory: join(base, 'web') }]);
      const result = await create({ path: 'web/a.ts', content: 'x' }, {}, { roots });
      expect(result).toMatchObject({ success: true, path: 'web/a.ts' });
      expect(await disk.readFile(join(base, 'web', 'a.ts'), 'utf8')).toBe('x');
      expect(await create({ path: 'nope/a.ts', content: 'x' }, {}, { roots })).toEqual(
        refusal('nope/a.ts', 'InvalidPath'),
      );
    });

    it('beside the link, not through it, where a replaced file has another name elsewhere', async () => {
      await disk.writeFile(join(base, 'elsewhere'), 'old');
      await disk.link(join(base, 'elsewhere'), join(root, 'a'));
      await create({ path: 'a', content: 'new', overwrite: true });
      expect(await disk.readFile(join(base, 'elsewhere'), 'utf8')).toBe('old');
    });

    it('where the disk has no hard links', async () => {
      const faults = { link: () => Promise.reject(errno('EPERM')) };
      expect(await create({ path: 'a', content: 'x' }, faults)).toMatchObject({ created: true });
      expect(await create({ path: 'a', content: 'y' }, faults)).toEqual(refusal('a', 'FileExists'));
      expect([await read('a'), await tree()]).toEqual(['x', ['a']]);
    });

    it('in a folder that is removed by someone else just before, by making it again', async () => {
      let removed = false;
      const open: FileSystem['open'] = async (path, flags, mode) => {
        if (isTemp(path) && !removed) {
          removed = true;
          await disk.rm(join(root, 'a'), { recursive: true });
        }
        return fs.open(path, flags, mode);
      };
      const result = await create({ path: 'a/b', content: 'x' }, { open });
      expect([removed, result.success]).toEqual([true, true]);
    });
  });

  describe('fails', () => {
    it('with FileExists, and leaves the file alone [CREATE-1]', async () => {
      await disk.writeFile(join(root, 'a'), 'mine');
      expect(await create({ path: './a', content: 'x', overwrite: false })).toEqual(
        refusal('a', 'FileExists'),
      );
      expect(await read('a')).toBe('mine');
    });

    it('with InvalidPath for what is no path, shown as it was given', async () => {
      for (const path of ['', '  ', '/etc/x', '../x', 'a/../b', 'C:/x', 'nul', '.git/config', 'a/']) {
        expect(await create({ path, content: 'x' })).toEqual(refusal(path, 'InvalidPath'));
      }
      expect(await create({ path: '\\\\host\\x', content: 'x' })).toEqual(refusal('//host/x', 'InvalidPath'));
      expect(await create({ path: 7, content: 'x' })).toEqual(refusal('', 'InvalidPath'));
      expect(await create(null)).toEqual(refusal('', 'InvalidPath'));
      expect(await tree()).toEqual([]);
    });

    it('with InvalidPath for a link, as a parent or as the file, overwrite or not [CREATE-2]', async () => {
      await disk.writeFile(join(base, 'target'), 'mine');
      await disk.symlink(base, join(root, 'folder'));
      await disk.symlink(join(base, 'target'), join(root, 'file'));
      await disk.symlink(join(base, 'nowhere'), join(root, 'dangling'));
      for (const path of ['folder/x', 'file', 'dangling']) {
        for (const overwrite of [true, false]) {
          expect(await create({ path, content: 'x', overwrite })).toEqual(refusal(path, 'InvalidPath'));
        }
      }
      expect(await disk.readFile(join(base, 'target'), 'utf8')).toBe('mine');
      expect(await disk.readdir(base)).toEqual(['root', 'target']);
    });

    it('with DirectoryCreateFailed where a parent is a file', async () => {
      await disk.writeFile(join(root, 'a'), '');
      expect(await create({ path: 'a/b/c', content: 'x' })).toEqual(
        refusal('a/b/c', 'DirectoryCreateFailed'),
      );
    });

    it('with WriteFailed where a folder, a FIFO or a socket has the name', async () => {
      await disk.mkdir(join(root, 'folder'));
      execFileSync('mkfifo', [join(root, 'fifo')]);
      const server = createServer().listen(join(root, 'socket'));
      await new Promise((resolve) => server.once('listening', resolve));
      for (const path of ['folder', 'fifo', 'socket']) {
        for (const overwrite of [true, false]) {
          expect(await create({ path, content: 'x', overwrite })).toEqual(refusal(path, 'WriteFailed'));
        }
      }
      expect(await tree()).toEqual(['fifo', 'folder', 'socket']);
      await new Promise((resolve) => server.close(resolve));
    });

    it('with WriteFailed for content that is no text or has a lone surrogate', async () => {
      for (const content of [undefined, null, 7, 'a\ud800b', '\udc00']) {
        expect(await create({ path: 'a', content })).toEqual(refusal('a', 'WriteFailed'));
      }
      expect((await create({ path: 'a', content: '\ud800' })).message).toContain('lone surrogate');
      expect(await create({ path: 'a', content: 'x', overwrite: 'yes' })).toEqual(
        refusal('a', 'WriteFailed'),
      );
      expect(await tree()).toEqual([]);
    });

    it('with TooLarge above the limit, counted after line endings became one byte', async () => {
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

    it('with TooLarge above 8 MiB where no limit is given', async () => {
      const content = 'x'.repeat(8 * 1024 * 1024);
      expect(await create({ path: 'a', content })).toMatchObject({ success: true });
      expect(await create({ path: 'b', content: content + 'x' })).toEqual(refusal('b', 'TooLarge'));
    });

    it('with HashFailed, and leaves nothing behind [CREATE-4]', async () => {
      const sha256 = () => {
        throw new Error('no OpenSSL');
      };
      expect(await create({ path: 'd/a', content: 'x' }, { sha256 })).toEqual(refusal('d/a', 'HashFailed'));
      expect(await tree()).toEqual([]);
    });

    it('with UnhandledException, without details, for what nobody foresaw', async () => {
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
    ])('with WriteFailed where %s fails; nothing new is left, nothing old is lost', async (what, faults) => {
      await disk.writeFile(join(root, 'old'), 'mine');
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
    });

    it('in words: what failed, and why', async () => {
      expect((await create({ path: 'd/a', content: 'x' }, fullDisk)).message).toBe(
        '"a" could not be written: the disk is full.',
      );
      const open = () => Promise.reject(errno('EROFS'));
      expect((await create({ path: 'a', content: 'x' }, { open })).message).toMatch(
        /: the disk is read-only\.$|opened/,
      );
    });
  });

  describe('among others', () => {
    it.each([false, true])('lets one of many creators of a file win, overwrite %s', async (overwrite) => {
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

    it('does not write over a file that appears at the last moment', async () => {
      const link: FileSystem['link'] = async (existing, path) => {
        await disk.writeFile(join(root, 'a'), 'mine');
        return fs.link(existing, path);
      };
      expect(await create({ path: 'a', content: 'x' }, { link })).toEqual(refusal('a', 'FileExists'));
      expect([await read('a'), await tree()]).toEqual(['mine', ['a']]);
    });

    it.each(['the folder', 'its parent'])(
      'is not led out of the root when %s is swapped for a link',
      async (which) => {
        await disk.mkdir(join(root, 'a', 'b'), { recursive: true });
        await disk.mkdir(join(base, 'outside', 'b'), { recursive: true });
        const victim = which === 'the folder' ? join(root, 'a', 'b') : join(root, 'a');
        const lure = which === 'the folder' ? join(base, 'outside', 'b') : join(base, 'outside');
        let calls = 0;
        // At every call in turn: whatever the moment, nothing appears outside.
        for (let moment = 0; moment < 40; moment++) {
          calls = 0;
          let swapped = false;
          const swap = async () => {
            if (calls++ !== moment) return;
            swapped = true;
            await disk.rename(victim, join(base, 'was'));
            await disk.symlink(lure, victim);
          };
          const before =
            <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
            async (...args: A): Promise<R> => {
              await swap();
              return call(...args);
            };
          // Only descriptors cover the instant between the last look and the call itself.
          const faults: Partial<FileSystem> = hasHandlePaths
            ? {
                open: before(fs.open),
                lstat: before(fs.lstat),
                link: before(fs.link),
                unlink: before(fs.unlink),
              }
            : { lstat: before(fs.lstat) };
          await create({ path: `a/b/f${moment}`, content: 'x' }, faults);
          expect([moment, await disk.readdir(join(base, 'outside'), { recursive: true })]).toEqual([
            moment,
            ['b'],
          ]);
          if (!swapped) break;
          await disk.unlink(victim);
          await disk.rename(join(base, 'was'), victim);
        }
        expect(calls).toBeLessThan(40);
      },
    );
  });
});
