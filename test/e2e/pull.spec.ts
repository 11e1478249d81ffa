import { readFile, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { suiteFixture, testFixture } from '../support/fixtures.js';
import { type Contents, disk, put, SyncFixture } from '../support/sync-fixture.js';
import { ToolsFixture } from '../support/tools-fixture.js';

describe('push and pull', () => {
  const shared = suiteFixture(() => ToolsFixture.start());
  const setup = testFixture(() => SyncFixture.start(shared));

  describe('pull', () => {
    it('writes into an empty folder what was pushed, byte for byte', async () => {
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
      const folder = await setup.folder('p', contents);
      await setup.push(folder);
      const empty = join(setup.directory, 'other', 'p');
      const { code, out } = await setup.pull(empty);
      expect([code, out]).toEqual([0, expect.stringMatching(/^received 308 files \(.*\), 0 unchanged\.\n$/)]);
      expect(await disk(empty)).toEqual(await disk(folder));
      expect((await setup.pull(empty)).out).toBe('received 0 files (0 B), 308 unchanged.\n');
      expect((await setup.push(empty)).out).toBe('sent 0 files (0 B), 308 unchanged.\n');
    });

    it('downloads new and changed files', async () => {
      const folder = await setup.folder('p', { a: '1', b: '1' });
      await setup.push(folder);
      await setup.fixture.write('/p/a', { text: '2' });
      await setup.fixture.write('/p/new/c', { text: '2' });
      await setup.fixture.write('/q/elsewhere', { text: '2' });
      // Equal bytes are fetched once.
      expect((await setup.pull(folder)).out).toBe(
        'received 2 files (2 B, 1 B over the wire), 1 unchanged.\n',
      );
      expect(await disk(folder)).toEqual({ a: '32', b: '31', 'new/c': '32' });
      expect((await setup.push(folder)).out).toBe('sent 0 files (0 B), 3 unchanged.\n');
    });

    it('overwrites a locally changed file only with --force', async () => {
      const folder = await setup.folder('p', { both: '1', here: '1', gone: '1', only: '1' });
      await setup.push(folder);
      await setup.fixture.write('/p/both', { text: 'theirs' });
      await setup.fixture.write('/p/unknown', { text: 'theirs' });
      await put(folder, { both: 'mine', here: 'mine', unknown: 'mine', untracked: 'mine' });
      await rm(join(folder, 'gone'));
      const { code, out } = await setup.pull(folder);
      expect(code).toBe(8);
      expect(out).toBe(
        [
          'received 0 files (0 B), 1 unchanged.',
          'kept 2:',
          '  gone: was deleted here; --force brings it back',
          '  here: was changed here; push sends it',
          'conflicts 2:',
          '  both: was changed here, and in the Cloud too',
          '  unknown: already exists with other content',
          'Nothing was overwritten; --force overwrites, and keeps the other version.',
          '',
        ].join('\n'),
      );
      expect((await setup.pull(folder, '--force')).code).toBe(0);
      const [mine, theirs] = ['mine', 'theirs'].map((text) => Buffer.from(text).toString('hex'));
      expect(await disk(folder)).toEqual({
        ...{ both: theirs, unknown: theirs, here: '31', gone: '31', only: '31', untracked: mine },
        // What no version has is put aside, and never sent.
        ...{ 'both.patchbay-kept': mine, 'unknown.patchbay-kept': mine, 'here.patchbay-kept': mine },
      });
      expect((await setup.push(folder)).out).toMatch(/^sent 1 file .*5 unchanged/);
    });

    it('does not overwrite what .gitignore leaves out', async () => {
      await setup.fixture.write('/p/dist/out.js', { text: 'theirs' });
      const folder = await setup.folder('p', { '.gitignore': 'dist\n', 'Dist/out.js': 'mine' });
      const { code, out } = await setup.pull(folder);
      expect([code, out]).toEqual([
        8,
        expect.stringContaining('  Dist/out.js: already exists with other content'),
      ]);
      expect(Object.keys(await disk(folder)).sort()).toEqual(['.gitignore', 'Dist/out.js']);
    });

    it('deletes only unchanged files, and only when told to', async () => {
      const folder = await setup.folder('p', { a: '1', b: '1', only: '1' });
      await setup.push(folder);
      for (const path of ['/p/a', '/p/b']) await setup.fixture.ok('rm', { path });
      await put(folder, { b: 'mine' });
      const kept = await setup.pull(folder);
      expect(kept.out).toContain('kept 1:\n  a: was deleted in the Cloud; --delete deletes it here\n');
      expect(kept.out).toContain('  b: was deleted in the Cloud since, and changed here\n');
      const { code, out } = await setup.pull(folder, '--delete');
      expect([code, out]).toEqual([
        8,
        expect.stringContaining('received 0 files (0 B), deleted 1 file, 1 unchanged.\n'),
      ]);
      expect(Object.keys(await disk(folder)).sort()).toEqual(['b', 'only']);
    });

    it('lists names that are unsafe on this platform and does not write them', async () => {
      const names = ['CON', 'a:b', 'sub/NUL.txt', '.git/config', 'dot.', 'sub/.GIT/hooks/x', 'fine'];
      for (const name of names) await setup.fixture.write(`/p/${name}`, { text: 'x' });
      const folder = await setup.folder('p');
      const { code, out } = await setup.pull(folder);
      expect(code).toBe(0);
      expect(out).toContain('skipped 6:\n');
      for (const name of names.slice(0, -1))
        expect(out.toLowerCase()).toContain(`  ${name.toLowerCase()}: cannot be written here`);
      expect(Object.keys(await disk(folder))).toEqual(['fine']);
    });

    it('does not write through links', async () => {
      const outside = await setup.folder('outside', { victim: 'mine' });
      await setup.fixture.write('/p/sub/victim', { text: 'theirs' });
      await setup.fixture.write('/p/direct', { text: 'theirs' });
      const folder = await setup.folder('p');
      await symlink(outside, join(folder, 'sub'));
      await symlink(join(outside, 'victim'), join(folder, 'direct'));
      const { out } = await setup.pull(folder, '--force');
      expect(out).toContain('received 0 files');
      expect(out).toContain('skipped 2:');
      expect(await readFile(join(outside, 'victim'), 'utf8')).toBe('mine');
    });

    it('writes files into existing folders, whatever the spelling of their names', async () => {
      const folder = await setup.folder('p', { 'Src/a.ts': '1' });
      await setup.fixture.write('/P/src/B.ts', { text: '1' });
      await setup.fixture.write('/P/new/c.ts', { text: '1' });
      await setup.pull(folder);
      expect(Object.keys(await disk(folder)).sort()).toEqual(['Src/B.ts', 'Src/a.ts', 'new/c.ts']);
    });

    it('reports its actions in a dry run and does nothing', async () => {
      const folder = await setup.folder('p', { a: '1', b: '1' });
      await setup.push(folder);
      await setup.fixture.write('/p/a', { text: '2' });
      await setup.fixture.write('/p/c', { text: '2' });
      await setup.fixture.ok('rm', { path: '/p/b' });
      const { code, out } = await setup.pull(folder, '--dry-run', '--delete');
      expect([code, out]).toEqual([
        0,
        'planned 3:\n  a: would be replaced\n  b: would be deleted here\n  c: would be added\n' +
          'dry run: nothing was changed, 3 files would be, 0 unchanged.\n',
      ]);
      expect(await disk(folder)).toEqual({ a: '31', b: '31' });
    });
  });

  it('reports that the user has no access', async () => {
    const folder = await setup.folder('p', { a: '1' });
    const stranger = await setup.fixture.server.register();
    const { code, err } = await setup.push(folder, '--token', stranger.token);
    expect([code, err]).toEqual([3, expect.stringContaining('Ask an owner')]);
    expect((await setup.pull(folder, '--token', stranger.token)).code).toBe(3);
  });
});
