import {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

import { StagedFile } from './atomic-write.js';
import { type FileSystem, realFileSystem } from './file-system.js';
import { ensureDirectory, openDirectory } from './open-directory.js';

/** Both ways must agree, except for the instant that only descriptors can cover. */
describe.each([
  ['by descriptors', true],
  ['by paths', false],
])('opening a folder %s', (_how, hasHandlePaths) => {
  const fs: FileSystem = { ...realFileSystem, hasHandlePaths };
  let base: string;
  let root: string;
  let outside: string;
  beforeEach(async () => {
    base = await realpath(await mkdtemp(join(tmpdir(), 'patchbay-walk-')));
    root = join(base, 'root');
    outside = join(base, 'outside');
    await mkdir(root);
    await mkdir(outside);
  });
  afterEach(() => rm(base, { recursive: true, force: true }));

  const codeOf = (error: unknown) => (error as { code?: unknown }).code;
  const failure = async (segments: string[]) => {
    const walked = await ensureDirectory(fs, root, segments).catch(codeOf);
    if (typeof walked === 'object' && walked !== null) await (walked as { close(): Promise<void> }).close();
    return walked;
  };

  it('creates missing folders, and can remove them again', async () => {
    await mkdir(join(root, 'a'));
    const walked = await ensureDirectory(fs, root, ['a', 'b', 'c']);
    expect(await readdir(root, { recursive: true })).toEqual(['a', 'a/b', 'a/b/c']);
    await walked.undo();
    await walked.close();
    expect(await readdir(root, { recursive: true })).toEqual(['a']);
  });

  it('does not remove a created folder that has gained an entry', async () => {
    const walked = await ensureDirectory(fs, root, ['a', 'b']);
    await writeFile(join(root, 'a', 'other'), '');
    await walked.undo();
    await walked.close();
    expect(await readdir(root, { recursive: true })).toEqual(['a', 'a/other']);
  });

  it('gives new folders 0777 less the umask', async () => {
    await (await ensureDirectory(fs, root, ['a'])).close();
    expect(Number((await fs.lstat(join(root, 'a'))).mode) & 0o777).toBe(0o777 & ~process.umask());
  });

  it('creates nothing if it only opens', async () => {
    expect(await openDirectory(fs, root, ['a', 'b'])).toBeNull();
    expect(await readdir(root)).toEqual([]);
  });

  it.each(['outside', 'inside', 'dangling'])('rejects a component that is a link: %s', async (where) => {
    await mkdir(join(root, 'real'));
    const target = { outside, inside: join(root, 'real'), dangling: join(base, 'nowhere') }[where]!;
    await symlink(target, join(root, 'link'));
    expect(await failure(['link'])).toBe('InvalidPath');
    expect(await failure(['link', 'new'])).toBe('InvalidPath');
    await expect(openDirectory(fs, root, ['link', 'x'])).rejects.toMatchObject({ code: 'InvalidPath' });
    expect(await readdir(outside)).toEqual([]);
  });

  it('rejects a root that was replaced by a link', async () => {
    await rename(root, join(base, 'moved'));
    await symlink(outside, root);
    expect(await failure(['a'])).toBe('InvalidPath');
  });

  it('answers DirectoryCreateFailed if a file is in the way or the root is missing', async () => {
    await writeFile(join(root, 'file'), '');
    expect(await failure(['file'])).toBe('DirectoryCreateFailed');
    expect(await failure(['file', 'a'])).toBe('DirectoryCreateFailed');
    await rm(root, { recursive: true });
    expect(await failure(['a'])).toBe('DirectoryCreateFailed');
  });

  it('says why a folder cannot be created, and leaves none behind', async () => {
    const full: FileSystem = {
      ...fs,
      mkdir: (path, mode) =>
        basename(path) === 'c'
          ? Promise.reject(Object.assign(new Error(path), { code: 'ENOSPC' }))
          : fs.mkdir(path, mode),
    };
    await expect(ensureDirectory(full, root, ['a', 'b', 'c'])).rejects.toMatchObject({
      code: 'DirectoryCreateFailed',
      message: 'The folder "c" could not be made: the disk is full.',
    });
    expect(await readdir(root)).toEqual([]);
  });

  it('succeeds if another process creates the folder at the same time', async () => {
    const walks = await Promise.all([1, 2, 3, 4].map(() => ensureDirectory(fs, root, ['a', 'b', 'c', 'd'])));
    await Promise.all(walks.map((walked) => walked.close()));
    expect(await readdir(join(root, 'a', 'b', 'c'))).toEqual(['d']);
  });

  it('writes nothing outside of the root if an opened component is replaced by a link', async () => {
    await mkdir(join(root, 'a', 'b'), { recursive: true });
    await mkdir(join(outside, 'b'));
    const walked = await ensureDirectory(fs, root, ['a', 'b']);
    await rename(join(root, 'a'), join(root, 'was-a'));
    await symlink(outside, join(root, 'a'));

    const bytes = Buffer.from('secret');
    const staging = StagedFile.stage(fs, walked.directory, {
      name: 'f',
      tempName: '.t',
      bytes,
      replaces: null,
    });
    if (hasHandlePaths) {
      await (await staging).commit();
      expect(await readFile(join(root, 'was-a', 'b', 'f'), 'utf8')).toBe('secret');
    } else {
      await expect(staging).rejects.toMatchObject({ code: 'InvalidPath' });
    }
    await walked.close();
    expect(await readdir(outside, { recursive: true })).toEqual(['b']);
  });
});

it('opening a folder by path rejects a short name of .git', async () => {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'patchbay-walk-')));
  await mkdir(join(root, 'short'));
  const windows: FileSystem = {
    ...realFileSystem,
    hasHandlePaths: false,
    realpath: async (path) => (await realFileSystem.realpath(path)).replace(/short$/, '.git'),
  };
  await expect(ensureDirectory(windows, root, ['short'])).rejects.toMatchObject({ code: 'InvalidPath' });
  await rm(root, { recursive: true });
});
