import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type FolderScan, scanFolder } from './scan-folder.js';

describe('a scan of a folder', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await realpath(await mkdtemp(join(tmpdir(), 'patchbay-scan-')));
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  const put = async (...paths: (string | [path: string, content: string])[]): Promise<void> => {
    for (const given of paths) {
      const [path, content] = typeof given === 'string' ? [given, 'x'] : given;
      await mkdir(dirname(join(directory, path)), { recursive: true });
      await writeFile(join(directory, path), content);
    }
  };
  const scan = (
    folder = '',
    more: { exclude?: string[]; maxFileBytes?: number; signal?: AbortSignal } = {},
  ) => scanFolder({ name: 'P', directory: join(directory, folder) }, { maxFileBytes: 100, ...more });
  const paths = ({ files }: FolderScan) => files.map(({ path }) => path).sort();

  it('finds all files with their case-folded docPaths', async () => {
    await put('A.txt', 'sub/Deep/B.txt', 'u\u0308.txt');
    const { files, folders } = await scan();
    expect(files.map(({ path, docPath }) => [path, docPath]).sort()).toEqual([
      ['A.txt', 'p/a.txt'],
      ['sub/Deep/B.txt', 'p/sub/deep/b.txt'],
      ['u\u0308.txt', 'p/\u00fc.txt'],
    ]);
    expect(folders).toEqual(['sub', 'sub/Deep']);
  });

  it('does not follow a .gitignore that is a link', async () => {
    await put(['rules', '*\n'], 'a');
    await symlink('rules', join(directory, '.gitignore'));
    expect(paths(await scan())).toEqual(['a', 'rules']);
  });

  it('leaves out .git under each name that opens it, and excluded folders', async () => {
    await put(
      '.git/x',
      '.GIT/x',
      'sub/.git',
      'git~1/x',
      'home/secret',
      'home2/a',
      '.github/a',
      '.gitattributes',
    );
    const found = paths(await scan('', { exclude: [join(directory, 'home')] }));
    expect(found).toEqual(['.gitattributes', '.github/a', 'home2/a']);
  });

  it('leaves out the data of a server, which holds its secrets', async () => {
    await put('a.txt', '.patchbay/patchbay.db', '.patchbay/jwt-secret', '.patchbay/sub/x.txt');
    const found = await scan();
    expect(paths(found)).toEqual(['a.txt']);
    expect(found.skipped).toEqual([
      { path: '.patchbay', reason: 'is the data directory of a Patchbay server' },
    ]);
  });

  it('lists links, pipes and large files with the reason', async () => {
    await put(['large', 'x'.repeat(101)], ['fits', 'x'.repeat(100)], 'target/a');
    await symlink('target', join(directory, 'folder-link'));
    await symlink('nowhere', join(directory, 'broken'));
    execFileSync('mkfifo', [join(directory, 'pipe')]);
    const { skipped, ...found } = await scan();
    expect(paths({ skipped, ...found })).toEqual(['fits', 'target/a']);
    expect(skipped.map(({ path }) => path).sort()).toEqual(['broken', 'folder-link', 'large', 'pipe']);
  });

  it('leaves out temp files of writes', async () => {
    const [ours, pulls] = ['.patchbay-0123456789abcdef.tmp', '.patchbay-pull-01234567-0123456789abcdef.tmp'];
    await put(ours, `sub/${pulls}`, '.patchbay-mine.tmp');
    const found = await scan();
    expect(paths(found)).toEqual(['.patchbay-mine.tmp']);
    expect(found.leftovers.sort()).toEqual([ours, `sub/${pulls}`]);
  });

  it('reports files that differ by case or Unicode form, also in folders that do', async () => {
    await put('a/X', 'A/x', 'a/only', 'A/other', '\u00e9', 'e\u0301');
    const { faults, ...found } = await scan();
    expect(paths({ faults, ...found })).toEqual(['A/other', 'a/only']);
    expect(faults.map(({ path }) => path).sort()).toEqual(['A/x', 'a/X', 'e\u0301', '\u00e9'].sort());
    expect(faults[0]!.reason).toContain('AmbiguousDocPath');
  });

  it('reports a file whose docPath is that of an ignored or secret file', async () => {
    await put(
      ['.gitignore', 'e\u0301.txt\nLocal.txt\n'],
      'e\u0301.txt',
      '\u00e9.txt',
      'Local.txt',
      'local.txt',
      'own.txt',
    );
    const { faults, ...found } = await scan();
    expect(paths({ faults, ...found })).toEqual(['.gitignore', 'own.txt']);
    expect(faults.map(({ path }) => path).sort()).toEqual(['local.txt', '\u00e9.txt']);
    expect(faults.find(({ path }) => path === 'local.txt')!.reason).toContain(
      'differs from Local.txt only by case',
    );
  });

  it('reports names that the Cloud rejects or that are not UTF-8', async () => {
    await put('back\\slash', 'tab\tname/plain', `${'long/'.repeat(210)}x`, 'fine');
    execFileSync('sh', ['-c', `touch "$(printf 'bad\\377name')"`], { cwd: directory });
    const { faults, ...found } = await scan();
    expect(paths({ faults, ...found })).toEqual(['fine']);
    expect(faults.map(({ reason }) => reason).sort()).toEqual([
      'has a name that is not UTF-8',
      'has a name that the Cloud refuses: the path has a backslash or a control character',
      'has a name that the Cloud refuses: the path has a backslash or a control character',
      'has a path of more than 1024 characters',
    ]);
  });

  it('stops when it is aborted', async () => {
    await put('a/b');
    await expect(scan('', { signal: AbortSignal.abort() })).rejects.toMatchObject({ name: 'AbortError' });
  });
});
