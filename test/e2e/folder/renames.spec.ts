import type { CloudFilePage } from '@patchbay/protocol';
import { chmod, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { suiteFixture } from '../../support/fixtures.js';
import { FolderFixture } from '../../support/folder-fixture.js';
import type { Machine } from '../../support/folder-machine.js';
import { waitFor } from '../../support/wait-for.js';

describe('names and modes of a connected folder’s files', () => {
  const fixture = suiteFixture(() => FolderFixture.start());
  let laptop: Machine;
  beforeEach(async () => {
    await fixture.begin();
    laptop = fixture.machine('laptop');
  });

  const base = () => `/workspaces/${fixture.workspaceId}`;
  const cloud = async () => Object.keys(await fixture.cloud()).sort();
  const headOf = async (path: string) =>
    (await fixture.user.get<CloudFilePage>(`${base()}/files?prefix=${path.slice(1)}`)).body.files[0]!;
  /** A member commits something of a file without having the folder. */
  const commits = async (
    path: string,
    change: { renamedFrom?: string; text?: string; isExecutable?: boolean },
  ) => {
    const { sha256: baseSha256 } = await headOf(path);
    const { text, ...more } = change;
    const pack = text === undefined ? baseSha256 : await blob(text);
    const files = [{ path, sha256: pack, baseSha256, ...more }];
    expect((await fixture.user.post(`${base()}/files/commit`, { files })).body).toMatchObject({
      files: [{ path }],
    });
  };
  /** Bytes that the workspace holds; gives their sha256. */
  const blob = async (text: string) => {
    await fixture.model().does('write', { path: '/blobs/one', content: { text } });
    return (await headOf('/blobs/one')).sha256;
  };
  const mode = async (path: string) => (await stat(join(laptop.folder, path))).mode & 0o111;

  it('are unchanged when a person accepts a text, and differences are reported [FILE-32]', async () => {
    await laptop.repository({
      '.gitignore': 'priv\n',
      priv: 'private\n',
      'run.sh': 'old\n',
      'src/page.ts': 'old\n',
    });
    await laptop.push();
    const process = await laptop.connect('--pull', '--allow', '**/.gitignore');
    await commits('/proj/.GITIGNORE', { renamedFrom: '/proj/.gitignore', text: '# hello\npriv\n' });
    await commits('/proj/run.sh', { text: 'new\n', isExecutable: true });
    await commits('/proj/SRC/PAGE.ts', { renamedFrom: '/proj/src/page.ts', text: 'newer\n' });
    await process.says(/\.gitignore: renamed in the Cloud, not here \(to \.GITIGNORE\)/);
    await process.says(/run\.sh: has another mode in the Cloud \(executable\)/);
    await process.says(/src\/page\.ts: renamed in the Cloud, not here \(to SRC\/PAGE\.ts\)/);
    expect(await laptop.files()).toEqual({
      ...{ '.gitignore': '# hello\npriv\n', priv: 'private\n', 'run.sh': 'new\n', 'src/page.ts': 'newer\n' },
    });
    expect(await mode('run.sh')).toBe(0);
    await laptop.write('last.txt', 'last\n');
    await fixture.sent('/proj/last.txt', 'last\n');
    expect(await cloud()).toEqual(['.GITIGNORE', 'SRC/PAGE.ts', 'last.txt', 'run.sh']);
    expect((await laptop.pull()).out).toContain('.gitignore: is .GITIGNORE in the Cloud');
    expect(Object.keys(await laptop.files())).toEqual(expect.arrayContaining(['.gitignore', 'SRC/PAGE.ts']));
    expect(await mode('run.sh')).not.toBe(0);
  });

  it('are reported when only they change in the Cloud [FILE-32]', async () => {
    await laptop.repository({ 'README.md': '#\n', 'run.sh': 'run\n', 'a.txt': 'a\n' });
    await laptop.push();
    const desktop = fixture.machine('desktop');
    await desktop.pull();
    const process = await laptop.connect();
    await rename(join(desktop.folder, 'README.md'), join(desktop.folder, 'Readme.md'));
    await chmod(join(desktop.folder, 'run.sh'), 0o755);
    await desktop.push();
    await process.says(/README\.md: renamed in the Cloud, not here \(to Readme\.md\)/);
    await process.says(/run\.sh: has another mode in the Cloud \(executable\)/);
    expect((await laptop.patchbay('status', laptop.folder)).out).toContain('README.md (renamed)');
    expect((await laptop.pull()).out).toMatch(/^received 2 files \(0 B\), 1 unchanged\.$/m);
    expect([Object.keys(await laptop.files()).sort(), await mode('run.sh')]).toEqual([
      ['Readme.md', 'a.txt', 'run.sh'],
      0o111,
    ]);
    // What has come is told again once it is another.
    await rename(join(laptop.folder, 'a.txt'), join(laptop.folder, 'A.txt'));
    await waitFor(async () => (await cloud()).includes('A.txt'), 'the rename to be sent');
    await rename(join(desktop.folder, 'a.txt'), join(desktop.folder, 'a.TXT'));
    expect((await desktop.push()).code).toBe(8);
    expect(process.log).not.toMatch(/a\.txt/i);
  });

  it('are reported once when a file was renamed on both sides [FILE-32]', async () => {
    await laptop.repository({ 'README.md': '#\n' });
    await laptop.push();
    await commits('/proj/Readme.md', { renamedFrom: '/proj/README.md' });
    const process = await laptop.connect();
    await rename(join(laptop.folder, 'README.md'), join(laptop.folder, 'readme.MD'));
    await process.says(/readme\.MD: renamed here and in the Cloud \(in the Cloud to Readme\.md\)/);
    await laptop.write('last.txt', 'last\n');
    await fixture.sent('/proj/last.txt', 'last\n');
    expect(process.log.match(/renamed here and in the Cloud/g)).toHaveLength(1);
    expect(await cloud()).toEqual(['Readme.md', 'last.txt']);
  });

  describe('of which two folders differ by case', () => {
    const FILES = { 'Lib/a.ts': 'a\n', 'lib/b.ts': 'b\n' };
    const ALL = ['Lib/a.ts', 'lib/b.ts', 'lib/c.ts'];
    /** All sides spell what they have alike. */
    const agree = async (paths: readonly string[]) => {
      expect(await cloud()).toEqual(paths);
      const desktop = fixture.machine('desktop');
      await desktop.pull();
      for (const each of [laptop, desktop]) {
        expect((await each.patchbay('status', each.folder)).out).toContain('without differences');
        await each.pull();
        expect(Object.keys(await each.files()).sort()).toEqual(paths);
      }
    };

    it('are kept where a call makes a file [FILE-31]', async () => {
      await laptop.repository(FILES);
      await laptop.push();
      await laptop.connect();
      await fixture.model().creates('proj/lib/c.ts', 'c\n');
      await agree(ALL);
      await rm(join(laptop.folder, 'lib/c.ts'));
      await waitFor(async () => !(await cloud()).includes('lib/c.ts'), 'the deletion to be sent');
      await rm(join(laptop.folder, 'lib/b.ts'));
      await waitFor(async () => !(await cloud()).includes('lib/b.ts'), 'the deletion to be sent');
      await laptop.write('lib/b.ts', 'b\n');
      await waitFor(async () => (await cloud()).includes('lib/b.ts'), 'the file to be sent');
      await fixture.model().creates('proj/lib/c.ts', 'c\n');
      await agree(ALL);
    });

    it('are kept when a call creates a file in a folder that was never pushed [FILE-31]', async () => {
      await laptop.repository(FILES);
      await laptop.connect();
      for (const path of ['proj/Lib/A2.ts', 'proj/lib/C.ts']) await fixture.model().creates(path, 'c\n');
      expect(await cloud()).toEqual(['Lib/A2.ts', 'lib/C.ts']);
      await laptop.push();
      await agree(['Lib/A2.ts', 'Lib/a.ts', 'lib/C.ts', 'lib/b.ts']);
    });

    it('are one when the Cloud spells this folder differently, also for new files of a call [FILE-31]', async () => {
      const desktop = fixture.machine('desktop');
      await desktop.repository({ 'Src/a.ts': 'a\n' });
      await desktop.push();
      await laptop.repository({ 'src/a.ts': 'a\n' });
      await laptop.push('--same-project');
      const first = await laptop.connect();
      await fixture.model().creates('proj/src/b.ts', 'b\n');
      expect(await cloud()).toEqual(['Src/a.ts', 'Src/b.ts']);
      await laptop.pull();
      expect(Object.keys(await laptop.files()).sort()).toEqual(['src/a.ts', 'src/b.ts']);
      expect((await laptop.patchbay('status', laptop.folder)).out).toContain('without differences');
      await first.kill();
      await laptop.connect('--pull');
      await fixture.model().does('write', { path: '/proj/Src/c.ts', content: { text: 'c\n' } });
      await waitFor(async () => 'src/c.ts' in (await laptop.files()), 'the file to be taken over');
      expect(Object.keys(await laptop.files()).sort()).toEqual(['src/a.ts', 'src/b.ts', 'src/c.ts']);
    });
  });
});
