import { keepBeside } from './keep-beside.js';
import { openDirectory } from './open-directory.js';
import { errno, WALKS, WalkedFolder } from './walked-folder.sample.js';

describe.each(WALKS)('content that is replaced, walking %s', (_how, hasHandlePaths) => {
  const folder = new WalkedFolder('patchbay-keep-', 'root', hasHandlePaths);
  beforeEach(() => folder.open());
  afterEach(() => folder.close());

  it.each([
    ['', folder.fs.link],
    [', where the disk has no hard links', () => Promise.reject(errno('EPERM'))],
  ])('is kept under a new name each time%s', async (_where, link) => {
    const fs = { ...folder.fs, link };
    const directory = (await openDirectory(fs, folder.root, []))!;
    await folder.write('a', 'first');
    expect(await keepBeside(folder.fs, directory, 'a')).toBe('a.patchbay-kept');
    await folder.write('b', 'second');
    await folder.fs.rename(`${folder.root}/b`, `${folder.root}/a`);
    expect(await keepBeside(fs, directory, 'a')).toBe('a.patchbay-kept-2');
    await directory.close();
    expect(await folder.read('a.patchbay-kept')).toBe('first');
    expect(await folder.read('a.patchbay-kept-2')).toBe('second');
  });
});
