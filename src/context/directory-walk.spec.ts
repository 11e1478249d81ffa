import { type FolderReader, snapshotOf, type Walk, walkFolders } from './directory-walk.js';

/** A reader over these Cloud paths that counts its reads. */
function folders(paths: string[]): { read: FolderReader; cost: { reads: number; rows: number } } {
  const files = new Set(paths);
  const all = new Set(paths);
  for (const path of paths) {
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1))
      all.add(path.slice(0, at));
  }
  const cost = { reads: 0, rows: 0 };
  const read: FolderReader = (folder, limit) => {
    const prefix = folder === '' ? '/' : `/${folder}/`;
    const found = [...all]
      .filter((path) => path.toLowerCase().startsWith(prefix) && !path.slice(prefix.length).includes('/'))
      .sort()
      .slice(0, limit);
    cost.reads += 1;
    cost.rows += found.length;
    return Promise.resolve(
      found.map((path) => ({
        kind: files.has(path) ? ('file' as const) : ('folder' as const),
        ...{ path, docPath: path.slice(1).toLowerCase(), updatedAt: 0 },
      })),
    );
  };
  return { read, cost };
}

const SMALL = { depth: 2, perFolder: 3, entries: 8 };

function shown(walk: Walk, count?: number): string[] {
  return snapshotOf(walk, count).nodes.map(
    ({ path, more, unopened }) => `${path}${more ? ` +${more}` : ''}${unopened ? ' …' : ''}`,
  );
}

describe('A directory snapshot', () => {
  it('has each folder before its content, sorted by path', async () => {
    const walk = await walkFolders(folders(['/b.txt', '/a/z.txt', '/a/b/c.txt', '/C.txt']).read);
    expect(shown(walk)).toEqual(['/', '/C.txt', '/a', '/a/b', '/a/b/c.txt', '/a/z.txt', '/b.txt']);
    expect(snapshotOf(walk).truncated).toBe(false);
  });

  it('of an empty workspace contains only the root', async () => {
    expect(shown(await walkFolders(folders([]).read))).toEqual(['/']);
  });

  it('names folders at the maximum depth without opening them', async () => {
    const walk = await walkFolders(folders(['/a/b/c/d.txt', '/a/x.txt']).read, SMALL);
    expect(shown(walk)).toEqual(['/', '/a', '/a/b …', '/a/x.txt']);
    expect(snapshotOf(walk).truncated).toBe(true);
  });

  it('shows the first entries of a large folder, and a lower bound of the rest', async () => {
    const many = Array.from({ length: 5_000 }, (_, n) => `/big/${String(n).padStart(4, '0')}`);
    const { read, cost } = folders([...many, '/other/file']);
    const walk = await walkFolders(read, SMALL);
    expect(shown(walk)).toEqual([
      ...['/', '/big +100', '/big/0000', '/big/0001', '/big/0002', '/other', '/other/file'],
    ]);
    expect(cost.rows).toBeLessThan(120);
  });

  it('opens folders level by level until the entry limit', async () => {
    const paths = ['a', 'b', 'c'].flatMap((top) => [`/${top}/1`, `/${top}/2`, `/${top}/3`]);
    const walk = await walkFolders(folders(paths).read, SMALL);
    expect(shown(walk)).toEqual(['/', '/a', '/a/1', '/a/2', '/a/3', '/b +1', '/b/1', '/b/2', '/c …']);
  });

  it('costs no more reads if more folders lie beyond the limit', async () => {
    const paths = Array.from({ length: 2_000 }, (_, n) => `/d${n}/sub/file`);
    const { read, cost } = folders(paths);
    await walkFolders(read, SMALL);
    expect(cost.reads).toBeLessThanOrEqual(SMALL.entries + 1);
  });

  it('omits build artefacts, dependencies and version control, and names them', async () => {
    const paths = [
      '/App/bin/a.dll',
      '/App/OBJ/b.o',
      '/App/a.cs',
      '/node_modules/x/y.js',
      '/.git/HEAD',
      '/x/bin/z',
    ];
    const walk = await walkFolders(folders([...paths, '/tools/dist']).read);
    expect(shown(walk)).toEqual(['/', '/App', '/App/a.cs', '/tools', '/tools/dist', '/x']);
    expect(walk.excluded).toEqual({ count: 5, names: ['.git', 'bin', 'node_modules', 'obj'] });
    expect(snapshotOf(walk).truncated).toBe(false);
  });

  it('of fewer entries drops the deepest ones and counts them in their folder', async () => {
    const walk = await walkFolders(folders(['/a/1', '/a/2', '/b']).read);
    expect(shown(walk, 4)).toEqual(['/', '/a +1', '/a/1', '/b']);
    expect(shown(walk, 3)).toEqual(['/', '/a +2', '/b']);
    expect(shown(walk, 0)).toEqual(['/ +2']);
    expect(shown(walk)).toEqual(['/', '/a', '/a/1', '/a/2', '/b']);
  });
});
