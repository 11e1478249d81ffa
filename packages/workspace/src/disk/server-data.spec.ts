import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { serverDataIn } from './server-data.js';

describe('serverDataIn', () => {
  let root: string;
  beforeEach(async () => (root = await mkdtemp(join(tmpdir(), 'patchbay-data-'))));
  afterEach(() => rm(root, { recursive: true }));

  const put = async (path: string) => {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), '');
  };

  it('finds the data of all servers in the folders and below', async () => {
    await put('.patchbay/patchbay.db');
    await put('services/relay/data/patchbay.db');
    await put('src/main.ts');
    expect(await serverDataIn([root])).toEqual(
      ['.patchbay', 'services/relay/data'].map((path) => join(root, path)),
    );
    expect(await serverDataIn([join(root, '.patchbay')])).toEqual([join(root, '.patchbay')]);
  });

  it('does not search deep folders, dependencies or links', async () => {
    await put('1/2/3/4/patchbay.db');
    await put('node_modules/patchbay.db');
    await put('.git/patchbay.db');
    await symlink(join(root, '1/2/3/4'), join(root, 'link'));
    expect(await serverDataIn([root])).toEqual([]);
  });

  it('ignores a folder that cannot be read', async () => {
    expect(await serverDataIn([join(root, 'missing')])).toEqual([]);
  });
});
