import { execFileSync } from 'node:child_process';
import { chmod, readFile, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { age, type Contents, disk, put, SyncDesk } from '../support/sync-desk.js';
import { ToolsScene } from '../support/tools-scene.js';

describe('push and pull', () => {
  let shared: ToolsScene;
  let desk: SyncDesk;
  beforeAll(async () => void (shared = await ToolsScene.start()));
  beforeEach(async () => void (desk = await SyncDesk.start(shared)));
  afterEach(() => desk.close());
  afterAll(() => shared.close());

  const versionsOf = async (path: string): Promise<number> => {
    const { body } = await desk.scene.user.get<{ files: { fileId: string; path: string }[] }>(
      `${desk.scene.base}/files`,
    );
    const { fileId } = body.files.find((file) => file.path === path)!;
    const versions = await desk.scene.user.get<{ versions: unknown[] }>(
      `${desk.scene.base}/files/${fileId}/versions`,
    );
    return versions.body.versions.length;
  };

  describe('push', () => {
    it('makes the text files of a folder the Cloud’s, in their real case, under the folder’s name', async () => {
      const folder = await desk.folder('Project', {
        'README.md': '# Hi\n',
        'src/Main.ts': 'x\n',
        'src/empty.txt': '',
      });
      const { code, out } = await desk.push(folder);
      expect([code, out]).toEqual([0, 'sent 3 files (7 B), 0 unchanged.\n']);
      expect(await desk.cloud()).toEqual({
        '/Project/README.md': '# Hi\n',
        '/Project/src/Main.ts': 'x\n',
        '/Project/src/empty.txt': '',
      });
    });

    it('sends nothing the second time, and makes no new versions', async () => {
      const folder = await desk.folder('p', { a: '1', b: '2' });
      await desk.push(folder);
      expect((await desk.push(folder)).out).toBe('sent 0 files (0 B), 2 unchanged.\n');
      await age(folder);
      expect((await desk.push(folder)).out).toBe('sent 0 files (0 B), 2 unchanged.\n');
      expect(await versionsOf('/p/a')).toBe(1);
    });

    it('sends what has changed, even where size and time are as before', async () => {
      const folder = await desk.folder('p', { a: '1', b: '2' });
      await age(folder);
      await desk.push(folder);
      await put(folder, { a: '3' });
      await age(folder);
      expect((await desk.push(folder)).out).toBe('sent 1 file (1 B), 1 unchanged.\n');
      expect(await desk.cloud()).toEqual({ '/p/a': '3', '/p/b': '2' });
      expect(await versionsOf('/p/a')).toBe(2);
    });

    it('sends no bytes that the workspace has under another name', async () => {
      const folder = await desk.folder('p', { a: 'same bytes' });
      await desk.push(folder);
      await put(folder, { b: 'same bytes', c: 'same bytes' });
      expect((await desk.push(folder)).out).toBe('sent 2 files (20 B, 0 B over the wire), 1 unchanged.\n');
    });

    it('finds out by itself that the Cloud has the same already, for a home that knows nothing', async () => {
      const folder = await desk.folder('p', { a: '1', b: '2' });
      await desk.push(folder);
      await rm(desk.home, { recursive: true });
      const { code, out } = await desk.push(folder);
      expect([code, out]).toEqual([0, 'sent 0 files (0 B), 2 unchanged.\n']);
      expect(await versionsOf('/p/a')).toBe(1);
    });

    it('goes by another name where it is told to', async () => {
      const folder = await desk.folder('p', { a: '1' });
      await desk.push(folder, '--name', 'Other Name');
      expect(await desk.cloud()).toEqual({ '/Other Name/a': '1' });
    });

    it('never overwrites a head that is newer than what it knows, unless it is forced to', async () => {
      const folder = await desk.folder('p', { a: '1', b: '1', c: '1' });
      await desk.push(folder);
      await desk.scene.write('/p/a', { text: 'theirs' });
      await desk.scene.ok('rm', { path: '/p/b' });
      await put(folder, { a: 'mine', b: 'mine', c: 'mine' });
      const { code, out } = await desk.push(folder);
      expect(code).toBe(8);
      expect(out).toBe(
        [
          'sent 1 file (4 B), 0 unchanged.',
          'conflicts 2:',
          '  a: was changed in the Cloud since, and here too',
          '  b: was deleted in the Cloud since, and changed here',
          'Nothing was overwritten; --force does so.',
          '',
        ].join('\n'),
      );
      expect(await desk.cloud()).toEqual({ '/p/a': 'theirs', '/p/c': 'mine' });
      expect((await desk.push(folder, '--force')).code).toBe(0);
      expect(await desk.cloud()).toEqual({ '/p/a': 'mine', '/p/b': 'mine', '/p/c': 'mine' });
      expect(await versionsOf('/p/a')).toBe(3);
    });

    it('does not touch a file of the Cloud that it never knew', async () => {
      await desk.scene.write('/p/a', { text: 'theirs' });
      const folder = await desk.folder('p', { a: 'mine' });
      const { code, out } = await desk.push(folder);
      expect([code, out]).toEqual([8, expect.stringContaining('  a: is in the Cloud with other content\n')]);
      expect(await desk.cloud()).toEqual({ '/p/a': 'theirs' });
    });

    it('leaves what is newer in the Cloud alone while it is unchanged here', async () => {
      const folder = await desk.folder('p', { a: '1' });
      await desk.push(folder);
      await desk.scene.write('/p/a', { text: 'theirs' });
      expect((await desk.push(folder)).code).toBe(0);
      expect(await desk.cloud()).toEqual({ '/p/a': 'theirs' });
    });

    it('keeps in the Cloud what was deleted here, unless it is told to delete it', async () => {
      const folder = await desk.folder('p', { a: '1', 'sub/b': '1', c: '1' });
      await desk.push(folder);
      await desk.scene.write('/p/c', { text: 'theirs' });
      for (const path of ['a', 'sub', 'c']) await rm(join(folder, path), { recursive: true });
      const kept = await desk.push(folder);
      expect([kept.code, kept.out]).toEqual([0, expect.stringContaining('kept 3:\n  a: was deleted here')]);
      const { code, out } = await desk.push(folder, '--delete');
      expect(code).toBe(8);
      expect(out).toContain('deleted 2 files, 0 unchanged.\n');
      expect(out).toContain('  c: was deleted here, and changed in the Cloud since\n');
      expect(await desk.cloud()).toEqual({ '/p/c': 'theirs' });
      expect((await desk.push(folder, '--delete', '--force')).code).toBe(0);
      expect(await desk.cloud()).toEqual({});
    });

    it('takes a file for deleted only where it is gone, not where it is left out now', async () => {
      const folder = await desk.folder('p', {
        ignored: '1',
        large: '1',
        binary: '1',
        linked: '1',
        moved: '1',
      });
      await desk.push(folder);
      await put(folder, { '.gitignore': 'ignored\n', large: 'x'.repeat(2000), binary: 'a\0b' });
      await rm(join(folder, 'linked'));
      await symlink('moved', join(folder, 'linked'));
      await rename(join(folder, 'moved'), join(folder, 'Moved'));
      const { out } = await desk.push(folder, '--delete', '--max-file-bytes', '1000');
      expect(out).not.toContain('deleted');
      expect(Object.keys(await desk.cloud())).toEqual(
        expect.arrayContaining(['/p/ignored', '/p/large', '/p/binary', '/p/linked', '/p/moved']),
      );
    });

    it('leaves out what git leaves out, .git, its own home, links, binaries and what is too large', async () => {
      const folder = await desk.folder('p', {
        '.git/config': 'x',
        '.gitignore': '*.log\n/dist/\n!keep.log\n',
        'keep.log': 'kept',
        'drop.log': 'x',
        'dist/out.js': 'x',
        'sub/dist/in.js': 'kept',
        'sub/.gitignore': 'local.txt\n',
        'sub/local.txt': 'x',
        'local.txt': 'kept',
        'latin1.txt': Buffer.from([0xe4, 0xf6]),
        'nul.txt': 'a\0b',
        'large.txt': 'x'.repeat(1001),
        'sub/.git': 'gitdir: elsewhere',
      });
      await symlink('/etc/passwd', join(folder, 'link'));
      await symlink(desk.directory, join(folder, 'up'));
      execFileSync('mkfifo', [join(folder, 'fifo')]);
      const { code, out } = await desk.push(
        folder,
        '--max-file-bytes',
        '1000',
        '--home',
        join(folder, 'home'),
      );
      expect(code).toBe(0);
      expect(Object.keys(await desk.cloud())).toEqual([
        '/p/.gitignore',
        '/p/keep.log',
        '/p/local.txt',
        '/p/sub/.gitignore',
        '/p/sub/dist/in.js',
      ]);
      expect(out).toBe(
        [
          'sent 5 files (45 B, 37 B over the wire), 0 unchanged.',
          'skipped 6:',
          '  fifo: is no regular file',
          '  large.txt: is too large: 1.0 kB; the limit is 1.0 kB',
          '  latin1.txt: is binary: it has NUL bytes or is not UTF-8',
          '  link: is a link, and links are not followed',
          '  nul.txt: is binary: it has NUL bytes or is not UTF-8',
          '  up: is a link, and links are not followed',
          '',
        ].join('\n'),
      );
    });

    it('names files that differ only by case, and sends neither', async () => {
      const folder = await desk.folder('p', { 'src/Foo.ts': '1', 'src/foo.ts': '2', 'src/bar.ts': '3' });
      const { code, out } = await desk.push(folder);
      expect(code).toBe(8);
      expect(out).toContain('  src/Foo.ts: differs from src/foo.ts only by case');
      expect(out).toContain('  src/foo.ts: differs from src/Foo.ts only by case');
      expect(await desk.cloud()).toEqual({ '/p/src/bar.ts': '3' });
    });

    it('names files whose names the Cloud refuses, and those that cannot be read', async () => {
      const folder = await desk.folder('p', {
        'back\\slash': '1',
        'new\nline': '1',
        'a:b': 'taken',
        good: '1',
      });
      const { code, out } = await desk.push(folder);
      expect(code).toBe(8);
      expect(out).toContain('  back\\slash: has a name that the Cloud refuses');
      expect(out).toContain('  new\\x0aline: has a name that the Cloud refuses');
      expect(Object.keys(await desk.cloud())).toEqual(['/p/a:b', '/p/good']);
      if (process.getuid?.() === 0) return;
      await chmod(join(folder, 'good'), 0);
      expect((await desk.push(folder)).out).toContain('  good: cannot be read');
    });

    it('says in a dry run what it would do, and does nothing', async () => {
      const folder = await desk.folder('p', { same: '1', changed: '1', gone: '1', both: '1' });
      await desk.push(folder);
      await desk.scene.write('/p/both', { text: 'theirs' });
      await put(folder, { changed: '2', fresh: '2', both: '2' });
      await rm(join(folder, 'gone'));
      const before = await desk.cloud();
      const { code, out } = await desk.push(folder, '--dry-run', '--delete');
      expect(code).toBe(8);
      expect(out).toBe(
        [
          'dry run: nothing was changed, 1 unchanged.',
          'planned 3:',
          '  changed: would be replaced',
          '  fresh: would be added',
          '  gone: would be deleted in the Cloud',
          'conflicts 1:',
          '  both: was changed in the Cloud since, and here too',
          'Nothing was overwritten; --force does so.',
          '',
        ].join('\n'),
      );
      expect(await desk.cloud()).toEqual(before);
    });
  });

  describe('pull', () => {
    it('into an empty folder gives what was pushed, byte for byte', async () => {
      const contents: Contents = {
        'crlf.txt': 'a\r\nb\rc\n',
        'bom.txt': Buffer.from([0xef, 0xbb, 0xbf, 0x61]),
        empty: '',
        'no-newline': 'x',
        'Ünï/Cödé 100%/ß.txt': 'ü',
        'deep/er/and/deeper': 'x\n',
        '.gitignore': 'nothing\n',
        'spaces and #hash?.txt': '?',
      };
      for (let n = 0; n < 300; n += 1) contents[`many/${n % 7}/${n}.txt`] = `${n}\n`.repeat(n);
      const folder = await desk.folder('p', contents);
      await desk.push(folder);
      const empty = join(desk.directory, 'other', 'p');
      const { code, out } = await desk.pull(empty);
      expect([code, out]).toEqual([0, expect.stringMatching(/^received 308 files \(.*\), 0 unchanged\.\n$/)]);
      expect(await disk(empty)).toEqual(await disk(folder));
      expect((await desk.pull(empty)).out).toBe('received 0 files (0 B), 308 unchanged.\n');
      expect((await desk.push(empty)).out).toBe('sent 0 files (0 B), 308 unchanged.\n');
    });

    it('brings what is new and what has changed there', async () => {
      const folder = await desk.folder('p', { a: '1', b: '1' });
      await desk.push(folder);
      await desk.scene.write('/p/a', { text: '2' });
      await desk.scene.write('/p/new/c', { text: '2' });
      await desk.scene.write('/q/elsewhere', { text: '2' });
      // Equal bytes are fetched once.
      expect((await desk.pull(folder)).out).toBe('received 2 files (2 B, 1 B over the wire), 1 unchanged.\n');
      expect(await disk(folder)).toEqual({ a: '32', b: '31', 'new/c': '32' });
      expect((await desk.push(folder)).out).toBe('sent 0 files (0 B), 3 unchanged.\n');
    });

    it('never overwrites a file that was changed here, unless it is forced to', async () => {
      const folder = await desk.folder('p', { both: '1', here: '1', gone: '1', only: '1' });
      await desk.push(folder);
      await desk.scene.write('/p/both', { text: 'theirs' });
      await desk.scene.write('/p/unknown', { text: 'theirs' });
      await put(folder, { both: 'mine', here: 'mine', unknown: 'mine', untracked: 'mine' });
      await rm(join(folder, 'gone'));
      const { code, out } = await desk.pull(folder);
      expect(code).toBe(8);
      expect(out).toBe(
        [
          'received 0 files (0 B), 1 unchanged.',
          'kept 2:',
          '  gone: was deleted here; --force brings it back',
          '  here: was changed here; push sends it',
          'conflicts 2:',
          '  both: was changed here, and in the Cloud too',
          '  unknown: is there already with other content',
          'Nothing was overwritten; --force does so.',
          '',
        ].join('\n'),
      );
      expect((await desk.pull(folder, '--force')).code).toBe(0);
      const theirs = Buffer.from('theirs').toString('hex');
      expect(await disk(folder)).toEqual({
        ...{ both: theirs, unknown: theirs, here: '31', gone: '31', only: '31' },
        untracked: Buffer.from('mine').toString('hex'),
      });
    });

    it('does not overwrite what .gitignore leaves out', async () => {
      await desk.scene.write('/p/dist/out.js', { text: 'theirs' });
      const folder = await desk.folder('p', { '.gitignore': 'dist\n', 'Dist/out.js': 'mine' });
      const { code, out } = await desk.pull(folder);
      expect([code, out]).toEqual([
        8,
        expect.stringContaining('  Dist/out.js: is there already with other content'),
      ]);
      expect(Object.keys(await disk(folder)).sort()).toEqual(['.gitignore', 'Dist/out.js']);
    });

    it('deletes nothing here unless it is told to, and then only what is unchanged', async () => {
      const folder = await desk.folder('p', { a: '1', b: '1', only: '1' });
      await desk.push(folder);
      for (const path of ['/p/a', '/p/b']) await desk.scene.ok('rm', { path });
      await put(folder, { b: 'mine' });
      const kept = await desk.pull(folder);
      expect(kept.out).toContain('kept 1:\n  a: was deleted in the Cloud; --delete deletes it here\n');
      expect(kept.out).toContain('  b: was deleted in the Cloud since, and changed here\n');
      const { code, out } = await desk.pull(folder, '--delete');
      expect([code, out]).toEqual([
        8,
        expect.stringContaining('received 0 files (0 B), deleted 1 file, 1 unchanged.\n'),
      ]);
      expect(Object.keys(await disk(folder)).sort()).toEqual(['b', 'only']);
    });

    it('lists names that are not safe here, and writes none of them', async () => {
      const names = ['CON', 'a:b', 'sub/NUL.txt', '.git/config', 'dot.', 'sub/.GIT/hooks/x', 'fine'];
      for (const name of names) await desk.scene.write(`/p/${name}`, { text: 'x' });
      const folder = await desk.folder('p');
      const { code, out } = await desk.pull(folder);
      expect(code).toBe(0);
      expect(out).toContain('skipped 6:\n');
      for (const name of names.slice(0, -1))
        expect(out.toLowerCase()).toContain(`  ${name.toLowerCase()}: cannot be written here`);
      expect(Object.keys(await disk(folder))).toEqual(['fine']);
    });

    it('writes through no link, wherever it leads', async () => {
      const outside = await desk.folder('outside', { victim: 'mine' });
      await desk.scene.write('/p/sub/victim', { text: 'theirs' });
      await desk.scene.write('/p/direct', { text: 'theirs' });
      const folder = await desk.folder('p');
      await symlink(outside, join(folder, 'sub'));
      await symlink(join(outside, 'victim'), join(folder, 'direct'));
      const { out } = await desk.pull(folder, '--force');
      expect(out).toContain('received 0 files');
      expect(out).toContain('skipped 2:');
      expect(await readFile(join(outside, 'victim'), 'utf8')).toBe('mine');
    });

    it('puts files into the folders that are there, however those are spelt', async () => {
      const folder = await desk.folder('p', { 'Src/a.ts': '1' });
      await desk.scene.write('/P/src/B.ts', { text: '1' });
      await desk.scene.write('/P/new/c.ts', { text: '1' });
      await desk.pull(folder);
      expect(Object.keys(await disk(folder)).sort()).toEqual(['Src/B.ts', 'Src/a.ts', 'new/c.ts']);
    });

    it('says in a dry run what it would do, and does nothing', async () => {
      const folder = await desk.folder('p', { a: '1', b: '1' });
      await desk.push(folder);
      await desk.scene.write('/p/a', { text: '2' });
      await desk.scene.write('/p/c', { text: '2' });
      await desk.scene.ok('rm', { path: '/p/b' });
      const { code, out } = await desk.pull(folder, '--dry-run', '--delete');
      expect([code, out]).toEqual([
        0,
        'dry run: nothing was changed, 0 unchanged.\nplanned 3:\n' +
          '  a: would be replaced\n  b: would be deleted here\n  c: would be added\n',
      ]);
      expect(await disk(folder)).toEqual({ a: '31', b: '31' });
    });
  });

  it('says that one may not', async () => {
    const folder = await desk.folder('p', { a: '1' });
    const stranger = await desk.scene.server.register();
    const { code, err } = await desk.push(folder, '--token', stranger.token);
    expect([code, err]).toEqual([3, expect.stringContaining('Ask an owner')]);
    expect((await desk.pull(folder, '--token', stranger.token)).code).toBe(3);
  });
});
