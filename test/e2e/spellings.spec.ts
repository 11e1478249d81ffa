import { cp, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CloudFilePage } from '@patchbay/protocol';
import { suiteFixture, testFixture } from '../support/fixtures.js';
import type { Ran } from '../support/run-command.js';
import { disk, put, SyncFixture } from '../support/sync-fixture.js';
import { ToolsFixture } from '../support/tools-fixture.js';

describe('a rename by case alone [FILE-32]', () => {
  const shared = suiteFixture(() => ToolsFixture.start());
  const setup = testFixture(() => SyncFixture.start(shared));

  const cloud = async () => Object.keys(await setup.cloud()).sort();
  const ids = async () => {
    const { body } = await setup.fixture.user.get<CloudFilePage>(`${setup.fixture.base}/files?limit=1000`);
    return body.files.map(({ fileId }) => fileId).sort();
  };
  const paths = async (folder: string) => Object.keys(await disk(folder)).sort();
  /** A folder of another machine with what the Cloud has. */
  const elsewhere = async () => {
    const folder = join(setup.directory, 'other', 'p');
    expect((await setup.pull(folder)).code).toBe(0);
    return folder;
  };

  it('of a file is uploaded, keeps the history and reaches every other folder', async () => {
    const folder = await setup.folder('p', { 'README.md': 'x', 'docs/Guide.md': 'y' });
    await setup.push(folder);
    const [other, before] = [await elsewhere(), await ids()];
    await rename(join(folder, 'README.md'), join(folder, 'Readme.md'));
    expect((await setup.push(folder, '--dry-run')).out).toContain(
      'Readme.md: would be renamed in the Cloud, from README.md',
    );
    expect((await setup.run('status', folder)).out).toContain('Readme.md');
    expect((await setup.push(folder)).out).toContain('sent 1 file');
    expect([await cloud(), await ids()]).toEqual([['/p/Readme.md', '/p/docs/Guide.md'], before]);
    expect(await setup.fixture.list('/p')).toEqual(['/p/Readme.md', '/p/docs']);
    expect((await setup.pull(other, '--dry-run')).out).toContain('README.md: would be renamed to Readme.md');
    await setup.pull(other);
    expect(await paths(other)).toEqual(['Readme.md', 'docs/Guide.md']);
    for (const each of [folder, other])
      expect((await setup.push(each)).out).toBe('sent 0 files (0 B), 2 unchanged.\n');
  });

  it('of a folder is uploaded with its files and reaches every other folder, where ignored files stay', async () => {
    const folder = await setup.folder('p', { '.gitignore': '*.log\n', 'Lib/A.js': 'a', 'Lib/Sub/b.js': 'b' });
    await setup.push(folder);
    await setup.fixture.ok('mkdir', { path: '/p/Lib/Empty' });
    const other = await elsewhere();
    await writeFile(join(other, 'Lib/own.log'), 'log');
    await rename(join(folder, 'Lib'), join(folder, 'lib'));
    await put(folder, { 'lib/A.js': 'changed, too', 'lib/new.js': 'n' });
    await setup.push(folder);
    const now = ['/p/.gitignore', '/p/lib/A.js', '/p/lib/Sub/b.js', '/p/lib/new.js'];
    expect(await cloud()).toEqual(now);
    expect(await setup.fixture.list('/p', true)).toEqual([
      ...['/p/.gitignore', '/p/lib', '/p/lib/A.js', '/p/lib/Empty', '/p/lib/Sub', '/p/lib/Sub/b.js'],
      '/p/lib/new.js',
    ]);
    await setup.pull(other);
    expect(await paths(other)).toEqual([
      '.gitignore',
      'Lib/own.log',
      'lib/A.js',
      'lib/Sub/b.js',
      'lib/new.js',
    ]);
    for (const each of [folder, other]) expect((await setup.push(each)).out).toContain('sent 0 files');
    expect(await cloud()).toEqual(now);
  });

  it('renames nothing in a folder that was never in sync with the Cloud', async () => {
    const folder = await setup.folder('p', { 'README.md': 'x' });
    await setup.push(folder);
    const other = await setup.folder('b/p', { 'readme.md': 'x' });
    for (let n = 0; n < 2; n += 1) {
      await setup.push(other);
      await setup.pull(other);
    }
    expect([await cloud(), await paths(other)]).toEqual([['/p/README.md'], ['readme.md']]);
    await setup.fixture.ok('mv', { from: '/p/README.md', to: '/p/ReadMe.md' });
    await setup.pull(other);
    expect(await paths(other)).toEqual(['ReadMe.md']);
  });

  it('on both sides is reported as a conflict until a person decides, and overwrites nothing', async () => {
    const folder = await setup.folder('p', { 'README.md': 'x' });
    await setup.push(folder);
    const other = await elsewhere();
    await rename(join(folder, 'README.md'), join(folder, 'Readme.md'));
    await rename(join(other, 'README.md'), join(other, 'readme.MD'));
    await setup.push(folder);
    for (let n = 0; n < 2; n += 1) {
      for (const run of [
        setup.pull(other),
        setup.push(other),
        setup.pull(other, '--dry-run'),
        setup.push(other, '--dry-run'),
      ])
        expect(await run).toMatchObject({
          code: 8,
          out: expect.stringContaining(
            'readme.MD: was renamed here, and in the Cloud to Readme.md',
          ) as string,
        });
      expect((await setup.run('status', other)).out).toContain(
        'was renamed here, and in the Cloud to Readme.md',
      );
      expect([await paths(other), await cloud()]).toEqual([['readme.MD'], ['/p/Readme.md']]);
    }
    await setup.push(other, '--force');
    expect(await cloud()).toEqual(['/p/readme.MD']);
    expect((await setup.pull(other)).code).toBe(0);
    expect((await setup.pull(folder)).out).toContain('received 1 file (0 B), 0 unchanged');
    expect(await paths(folder)).toEqual(['readme.MD']);
  });

  it('on both sides is resolved by a forced pull', async () => {
    const folder = await setup.folder('p', { 'README.md': 'x' });
    await setup.push(folder);
    const other = await elsewhere();
    await rename(join(folder, 'README.md'), join(folder, 'Readme.md'));
    await rename(join(other, 'README.md'), join(other, 'readme.MD'));
    await setup.push(folder);
    expect((await setup.push(other)).code).toBe(8);
    await setup.pull(other, '--force');
    expect(await paths(other)).toEqual(['Readme.md']);
    expect((await setup.push(other)).out).toBe('sent 0 files (0 B), 1 unchanged.\n');
  });

  it('that was not recorded because of a kill is reported when another one follows', async () => {
    const folder = await setup.folder('p', { 'README.md': 'x' });
    await setup.push(folder);
    const other = await elsewhere();
    /** As if the process had been killed before it saved what it had done. */
    const killed = async (work: () => Promise<Ran>) => {
      await cp(setup.home, `${setup.home}-before`, { recursive: true });
      expect((await work()).code).toBe(0);
      await rm(setup.home, { recursive: true });
      await rename(`${setup.home}-before`, setup.home);
    };
    await rename(join(folder, 'README.md'), join(folder, 'Readme.md'));
    await killed(() => setup.push(folder));
    await killed(() => setup.pull(other));
    expect([await cloud(), await paths(other)]).toEqual([['/p/Readme.md'], ['Readme.md']]);
    await rename(join(folder, 'Readme.md'), join(folder, 'readme.MD'));
    const pushed = await setup.push(folder);
    expect([pushed.code, pushed.out]).toEqual([8, expect.stringContaining('in the Cloud to Readme.md')]);
    expect((await setup.push(folder, '--force')).code).toBe(0);
    const pulled = await setup.pull(other);
    expect([pulled.code, pulled.out]).toEqual([8, expect.stringContaining('in the Cloud to readme.MD')]);
    expect((await setup.pull(other, '--force')).code).toBe(0);
    expect([await cloud(), await paths(other)]).toEqual([['/p/readme.MD'], ['readme.MD']]);
  });

  it('in the Cloud is still applied after the text was sent under the old name', async () => {
    const folder = await setup.folder('p', { 'README.md': 'x' });
    await setup.push(folder);
    await setup.fixture.ok('mv', { from: '/p/README.md', to: '/p/Readme.md' });
    await put(folder, { 'README.md': 'newer' });
    await setup.push(folder);
    expect((await setup.run('status', folder)).out).toContain('README.md (renamed)');
    await setup.pull(folder);
    expect(await disk(folder)).toEqual({ 'Readme.md': Buffer.from('newer').toString('hex') });
  });

  it('of a file that has changed in the Cloud is no conflict', async () => {
    const folder = await setup.folder('p', { 'README.md': 'x' });
    await setup.push(folder);
    await setup.fixture.raw('PUT', '/contents/p/readme.md', {}, 'newer');
    await rename(join(folder, 'README.md'), join(folder, 'Readme.md'));
    expect((await setup.push(folder)).code).toBe(0);
    expect(await setup.cloud()).toEqual({ '/p/Readme.md': 'newer' });
    expect((await setup.pull(folder)).code).toBe(0);
    expect(await disk(folder)).toEqual({ 'Readme.md': Buffer.from('newer').toString('hex') });
  });
});

describe('folders that differ by case [FILE-31]', () => {
  const shared = suiteFixture(() => ToolsFixture.start());
  const setup = testFixture(() => SyncFixture.start(shared));

  const contents = { 'Lib/a.js': 'a', 'lib/b.js': 'b', 'LIB/deep/C.js': 'c', 'lib/Deep/d.js': 'd' };

  it('are kept in the Cloud and in every other folder, each file with its path', async () => {
    const folder = await setup.folder('p', contents);
    expect((await setup.push(folder)).code).toBe(0);
    const there = Object.fromEntries(Object.entries(contents).map(([path, text]) => [`/p/${path}`, text]));
    expect(await setup.cloud()).toEqual(there);
    const other = join(setup.directory, 'other', 'p');
    await setup.pull(other);
    expect(await disk(other)).toEqual(await disk(folder));
    for (const each of [folder, other]) expect((await setup.push(each)).out).toContain('sent 0 files');
    await rm(join(folder, 'Lib'), { recursive: true });
    await setup.push(folder, '--delete');
    expect(Object.keys(await setup.cloud())).not.toContain('/p/Lib/a.js');
  });

  it('keep a file that the Cloud creates or moves in the named folder', async () => {
    const folder = await setup.folder('p', contents);
    await setup.push(folder);
    await setup.fixture.ok('write', { path: '/p/lib/w.js', content: 'w' });
    await setup.fixture.ok('mv', { from: '/p/Lib/a.js', to: '/p/lib/a2.js' });
    await setup.fixture.ok('write', { path: '/p/lIb/x.js', content: 'x' });
    expect(Object.keys(await setup.cloud()).sort()).toEqual([
      ...[
        '/p/LIB/deep/C.js',
        '/p/Lib/x.js',
        '/p/lib/Deep/d.js',
        '/p/lib/a2.js',
        '/p/lib/b.js',
        '/p/lib/w.js',
      ],
    ]);
    await setup.pull(folder);
    expect(Object.keys(await disk(folder))).toEqual(expect.arrayContaining(['lib/a2.js', 'lib/w.js']));
  });

  it('and a file are reported by both names and neither is sent [FILE-33]', async () => {
    const folder = await setup.folder('p', { Q: 'file', 'q/in.ts': 'in', 'r.ts': 'r', R: 'file' });
    await mkdir(join(folder, 'r'));
    const { code, out } = await setup.push(folder);
    expect([code, await setup.cloud()]).toEqual([8, { '/p/r.ts': 'r', '/p/R': 'file' }]);
    expect(out).toContain('  Q: differs from the folder q only by case');
    expect(out).toContain('  q/: differs from the file Q only by case');
  });

  it('that differ only by Unicode form are reported as one in the Cloud', async () => {
    const [composed, decomposed] = ['caf\u00e9', 'cafe\u0301'];
    const folder = await setup.folder('p', { [`${composed}/a.ts`]: 'a', [`${decomposed}/b.ts`]: 'b' });
    const { code, out } = await setup.push(folder);
    expect([code, out]).toEqual([
      0,
      expect.stringContaining('is the same folder in the Cloud as another one of this name'),
    ]);
    expect(Object.keys(await setup.cloud()).sort()).toEqual([`/p/${composed}/a.ts`, `/p/${composed}/b.ts`]);
    expect((await setup.pull(folder, '--force')).out).toBe('received 0 files (0 B), 2 unchanged.\n');
  });

  it('with files of one name skip those, report both names and send the others', async () => {
    const folder = await setup.folder('p', { ...contents, 'lib/A.js': 'twin' });
    const { code, out } = await setup.push(folder);
    expect(code).toBe(8);
    expect(out).toContain('  Lib/a.js: differs from lib/A.js only by case');
    expect(out).toContain('  lib/A.js: differs from Lib/a.js only by case');
    expect(Object.keys(await setup.cloud()).sort()).toEqual([
      '/p/LIB/deep/C.js',
      '/p/lib/Deep/d.js',
      '/p/lib/b.js',
    ]);
  });

  it('are one folder where the spelling of this client differs from that of the Cloud', async () => {
    const folder = await setup.folder('p', { 'Src/a.ts': 'a' });
    await setup.push(folder);
    const other = await setup.folder('b/p', { 'src/a.ts': 'a' });
    await setup.push(other);
    await put(other, { 'src/new.ts': 'n' });
    await setup.push(other);
    expect(Object.keys(await setup.cloud()).sort()).toEqual(['/p/Src/a.ts', '/p/Src/new.ts']);
    await mkdir(join(folder, 'Src/more'));
    await setup.pull(folder);
    expect(Object.keys(await disk(folder)).sort()).toEqual(['Src/a.ts', 'Src/new.ts']);
  });
});
