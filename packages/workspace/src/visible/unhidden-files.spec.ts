import fc from 'fast-check';
import { ALL_SECRETS } from '../disk/secret-files.js';
import { GitTree, NO_SECRETS } from './git-tree.sample.js';
import { unhiddenFiles } from './unhidden-files.js';

describe('the files that a changed .gitignore would reveal', () => {
  let tree: GitTree;
  beforeEach(() => void (tree = new GitTree()));
  afterEach(() => tree.close());

  const unhidden = (
    changes: Record<string, string>,
    folder = '',
    secrets = NO_SECRETS,
  ): Promise<string[]> => {
    const directory = `${tree.directory}/${folder}`.replace(/\/$/, '');
    return unhiddenFiles({ name: 'P', directory }, new Map(Object.entries(changes)), { secrets });
  };
  /** The files that a scan finds only after the change, which stays. */
  const byScan = async (changes: Record<string, string>, folder = ''): Promise<string[]> => {
    const before = new Set(await tree.scanned(folder));
    const below = folder === '' ? '' : `${folder}/`;
    tree.put(Object.fromEntries(Object.entries(changes).map(([path, text]) => [below + path, text])));
    const isChange = (path: string): boolean => Object.hasOwn(changes, path);
    return (await tree.scanned(folder)).filter((path) => !before.has(path) && !isChange(path));
  };

  it.each([true, false])(
    'are those that git lists afterwards; in a repository: %s',
    async (isRepository) => {
      const name = fc.constantFrom('a', 'b', 'out', 'x.log', 'y.log');
      const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => `${names.join('/')}/f.log`);
      const line = fc.constantFrom(...'*.log,out/,/a,!x.log/,b/*,!b/a,**/y.log,*,!*/,f.log'.split(','));
      const rules = fc.array(line, { maxLength: 3 }).map((lines) => `${lines.join('\n')}\n`);
      const folder = fc.constantFrom('', 'a/', 'out/', 'b/a/');
      await fc.assert(
        fc.asyncProperty(
          fc.array(path, { maxLength: 6 }),
          fc.array(fc.tuple(folder, rules), { maxLength: 3 }),
          rules,
          async (paths, ignores, changed) => {
            tree.close();
            tree = new GitTree();
            if (isRepository) tree.repository('');
            tree.put(Object.fromEntries(paths.map((file) => [file, 'x'])));
            tree.put(Object.fromEntries(ignores.map(([where, text]) => [`${where}.gitignore`, text])));
            const changes = { '.gitignore': changed };
            const said = await unhidden(changes);
            expect(said).toEqual(await byScan(changes));
          },
        ),
        { numRuns: 15 },
      );
    },
    120_000,
  );

  it("include those of a folder below the repository's top and of nested repositories", async () => {
    tree.repository('', { '.gitignore': '*.log\n', 'proj/a.log': '', 'proj/b.txt': '', 'other.log': '' });
    tree.put({ 'proj/.gitignore': 'b.txt\n', '.git/info/exclude': 'c.md\n', 'proj/c.md': '' });
    const change = { '.gitignore': '!*.log\n' };
    expect(await unhidden(change, 'proj')).toEqual(['a.log', 'b.txt']);
    expect(await byScan(change, 'proj')).toEqual(['a.log', 'b.txt']);
    tree.repository('plain/inner', { '.gitignore': 'out/\n', 'out/deep/x': '' });
    expect(await unhidden({ 'inner/.gitignore': '' }, 'plain')).toEqual(['inner/out/deep/x']);
  });

  it('exclude secret, tracked and still ignored files', async () => {
    tree.repository('', {
      '.gitignore': '.env\nkey.pem\nout/\nkept\n',
      '.env': '',
      'key.pem': '',
      'out/a': '',
      kept: '',
    });
    tree.commit('', 'out/a');
    expect(await unhidden({ '.gitignore': 'kept\n' }, '', ALL_SECRETS)).toEqual([]);
    expect(await unhidden({ '.gitignore': 'kept\n' })).toEqual(['.env', 'key.pem']);
    expect(await unhidden({ 'new/.gitignore': '!*\n' })).toEqual([]);
  });

  it('are found without changing the folder or the repository', async () => {
    tree.repository('', { '.gitignore': 'a\n', a: '' });
    const status = tree.git('', 'status', '--porcelain', '--ignored');
    expect(await unhidden({ '.gitignore': '' })).toEqual(['a']);
    expect(tree.git('', 'status', '--porcelain', '--ignored')).toBe(status);
  });
});
