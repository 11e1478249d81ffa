import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inlineFileSystem } from './inline-file-system.js';
import { ChangedMeanwhile } from './place-file.js';
import { renameFile } from './rename-file.js';

describe('renaming a file to another spelling', () => {
  const plain = { ...inlineFileSystem };
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'patchbay-rename-'));
    await mkdir(join(root, 'Lib'));
    await writeFile(join(root, 'Lib/a.ts'), 'old');
  });
  afterEach(async () => {
    Object.assign(inlineFileSystem, plain);
    await rm(root, { recursive: true });
  });

  const moves = (to: string) => renameFile(root, ['Lib', 'a.ts'], to.split('/'), () => true);
  /** Runs `action` right before the file takes its new name. */
  const before = (deed: () => Promise<void>) => {
    const open: typeof plain.open = async (path, ...how) => {
      if (/A\.ts$/.test(path)) await deed();
      return plain.open(path, ...how);
    };
    Object.assign(inlineFileSystem, { open });
  };

  it.each([['Lib/A.ts'], ['lib/A.ts']])(
    'does not replace a file that was created right before: %s',
    async (to) => {
      before(async () => {
        await mkdir(join(root, to, '..'), { recursive: true });
        await writeFile(join(root, to), 'mine');
      });
      await expect(moves(to)).rejects.toThrow(ChangedMeanwhile);
      expect(await readFile(join(root, to), 'utf8')).toBe('mine');
      expect(await readFile(join(root, 'Lib/a.ts'), 'utf8')).toBe('old');
    },
  );

  it('keeps a text that was saved under the old name right before', async () => {
    before(() => writeFile(join(root, 'Lib/a.ts'), 'saved'));
    await moves('lib/A.ts');
    expect([await readdir(root), await readFile(join(root, 'lib/A.ts'), 'utf8')]).toEqual([['lib'], 'saved']);
  });

  it('creates nothing if the file is gone', async () => {
    await rm(join(root, 'Lib/a.ts'));
    await expect(moves('lib/A.ts')).rejects.toThrow(ChangedMeanwhile);
    expect(await readdir(root)).toEqual(['Lib']);
  });

  it('keeps the old folder with its other files', async () => {
    await writeFile(join(root, 'Lib/other'), 'x');
    await moves('lib/a.ts');
    expect([await readdir(join(root, 'Lib')), await readdir(join(root, 'lib'))]).toEqual([
      ['other'],
      ['a.ts'],
    ]);
  });
});
