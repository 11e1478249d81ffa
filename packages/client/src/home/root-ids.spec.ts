import { mkdir, mkdtemp, readdir, realpath, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keepRootId, rootIdOf } from './root-ids.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

describe('the id of a folder', () => {
  let base: string;
  let home: string;
  let folder: string;
  beforeEach(async () => {
    base = await realpath(await mkdtemp(join(tmpdir(), 'patchbay-root-ids-')));
    [home, folder] = [join(base, 'deep/home'), join(base, 'Proj')];
    await mkdir(folder);
  });
  afterEach(() => rm(base, { recursive: true }));

  it('is a UUID that stays the same when the folder is addressed differently or its content changes', async () => {
    const rootId = await rootIdOf(folder, home);
    expect(rootId).toMatch(UUID);
    await symlink(folder, join(base, 'link'));
    await writeFile(join(folder, 'a'), '');
    for (const name of [folder, `${folder}/`, join(base, 'link'), `${base}/./Proj`])
      expect(await rootIdOf(name, home)).toBe(rootId);
  });

  it('is the same for all clients that ask for it first at the same moment', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => rootIdOf(folder, home)));
    expect(new Set(all).size).toBe(1);
    expect(await readdir(join(home, 'roots'))).toHaveLength(1);
  });

  it('differs for another folder, another home, and a folder that replaced the first', async () => {
    const rootId = await rootIdOf(folder, home);
    await mkdir(join(base, 'other'));
    const others = [await rootIdOf(join(base, 'other'), home), await rootIdOf(folder, join(base, 'home2'))];
    await rename(folder, join(base, 'away'));
    await mkdir(folder);
    const successor = await rootIdOf(folder, home);
    expect(new Set([rootId, ...others, successor]).size).toBe(4);
    expect(await rootIdOf(folder, home)).toBe(successor);
  });

  it('is the one that a person chose for the folder', async () => {
    await rootIdOf(folder, home);
    const rootId = randomUUID();
    await keepRootId(folder, home, rootId);
    expect(await rootIdOf(folder, home)).toBe(rootId);
  });

  it('is created anew when the stored one is damaged, and only the user can read it', async () => {
    await rootIdOf(folder, home);
    const [name] = await readdir(join(home, 'roots'));
    const file = join(home, 'roots', name!);
    for (const damaged of ['', '{"rootId"', 'null', '{"rootId":7}']) {
      await writeFile(file, damaged);
      const rootId = await rootIdOf(folder, home);
      expect([rootId, await rootIdOf(folder, home)]).toEqual([expect.stringMatching(UUID), rootId]);
    }
    const modes = [file, join(home, 'roots'), home].map(async (path) => (await stat(path)).mode & 0o777);
    expect(await Promise.all(modes)).toEqual([0o600, 0o700, 0o700]);
  });

  it('is rejected for a folder that does not exist', async () => {
    await expect(rootIdOf(join(base, 'missing'), home)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
