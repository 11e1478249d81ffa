import { rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { suiteFixture, testFixture } from '../support/fixtures.js';
import { age, put, SyncFixture } from '../support/sync-fixture.js';
import { ToolsFixture } from '../support/tools-fixture.js';

describe('push and pull', () => {
  const shared = suiteFixture(() => ToolsFixture.start());
  const setup = testFixture(() => SyncFixture.start(shared));

  const versionsOf = async (path: string): Promise<number> => {
    const { body } = await setup.fixture.user.get<{ files: { fileId: string; path: string }[] }>(
      `${setup.fixture.base}/files`,
    );
    const { fileId } = body.files.find((file) => file.path === path)!;
    const versions = await setup.fixture.user.get<{ versions: unknown[] }>(
      `${setup.fixture.base}/files/${fileId}/versions`,
    );
    return versions.body.versions.length;
  };

  describe('push', () => {
    it('uploads the text files of a folder with their real case, under the folder’s name', async () => {
      const folder = await setup.folder('Project', {
        'README.md': '# Hi\n',
        'src/Main.ts': 'x\n',
        'src/empty.txt': '',
      });
      const { code, out } = await setup.push(folder);
      expect([code, out]).toEqual([0, 'sent 3 files (7 B), 0 unchanged.\n']);
      expect(await setup.cloud()).toEqual({
        '/Project/README.md': '# Hi\n',
        '/Project/src/Main.ts': 'x\n',
        '/Project/src/empty.txt': '',
      });
    });

    it('sends nothing when repeated, and creates no versions', async () => {
      const folder = await setup.folder('p', { a: '1', b: '2' });
      await setup.push(folder);
      expect((await setup.push(folder)).out).toBe('sent 0 files (0 B), 2 unchanged.\n');
      await age(folder);
      expect((await setup.push(folder)).out).toBe('sent 0 files (0 B), 2 unchanged.\n');
      expect(await versionsOf('/p/a')).toBe(1);
    });

    it('sends changed files, even with the same size and time', async () => {
      const folder = await setup.folder('p', { a: '1', b: '2' });
      await age(folder);
      await setup.push(folder);
      await put(folder, { a: '3' });
      await age(folder);
      expect((await setup.push(folder)).out).toBe('sent 1 file (1 B), 1 unchanged.\n');
      expect(await setup.cloud()).toEqual({ '/p/a': '3', '/p/b': '2' });
      expect(await versionsOf('/p/a')).toBe(2);
    });

    it('does not send bytes that the workspace has under another name', async () => {
      const folder = await setup.folder('p', { a: 'same bytes' });
      await setup.push(folder);
      await put(folder, { b: 'same bytes', c: 'same bytes' });
      expect((await setup.push(folder)).out).toBe('sent 2 files (20 B, 0 B over the wire), 1 unchanged.\n');
    });

    it('detects that the Cloud has the same files, with an empty home', async () => {
      const folder = await setup.folder('p', { a: '1', b: '2' });
      await setup.push(folder);
      await rm(setup.home, { recursive: true });
      const { code, out } = await setup.push(folder);
      expect([code, out]).toEqual([0, 'sent 0 files (0 B), 2 unchanged.\n']);
      expect(await versionsOf('/p/a')).toBe(1);
    });

    it('uses another folder name when told to', async () => {
      const folder = await setup.folder('p', { a: '1' });
      await setup.push(folder, '--name', 'Other Name');
      expect(await setup.cloud()).toEqual({ '/Other Name/a': '1' });
    });

    it('overwrites a newer head only with --force', async () => {
      const folder = await setup.folder('p', { a: '1', b: '1', c: '1' });
      await setup.push(folder);
      await setup.fixture.write('/p/a', { text: 'theirs' });
      await setup.fixture.ok('rm', { path: '/p/b' });
      await put(folder, { a: 'mine', b: 'mine', c: 'mine' });
      const { code, out } = await setup.push(folder);
      expect(code).toBe(8);
      expect(out).toBe(
        [
          'sent 1 file (4 B), 0 unchanged.',
          'conflicts 2:',
          '  a: was changed in the Cloud since, and here too',
          '  b: was deleted in the Cloud since, and changed here',
          'Nothing was overwritten; --force overwrites, and keeps the other version.',
          '',
        ].join('\n'),
      );
      expect(await setup.cloud()).toEqual({ '/p/a': 'theirs', '/p/c': 'mine' });
      expect((await setup.push(folder, '--force')).code).toBe(0);
      expect(await setup.cloud()).toEqual({ '/p/a': 'mine', '/p/b': 'mine', '/p/c': 'mine' });
      expect(await versionsOf('/p/a')).toBe(3);
    });

    it('leaves a Cloud file alone that it never knew', async () => {
      await setup.fixture.write('/p/a', { text: 'theirs' });
      const folder = await setup.folder('p', { a: 'mine' });
      const { code, out } = await setup.push(folder);
      expect([code, out]).toEqual([8, expect.stringContaining('  a: is in the Cloud with other content\n')]);
      expect(await setup.cloud()).toEqual({ '/p/a': 'theirs' });
    });

    it('leaves a newer Cloud file alone while the local file is unchanged', async () => {
      const folder = await setup.folder('p', { a: '1' });
      await setup.push(folder);
      await setup.fixture.write('/p/a', { text: 'theirs' });
      expect((await setup.push(folder)).code).toBe(0);
      expect(await setup.cloud()).toEqual({ '/p/a': 'theirs' });
    });

    it('keeps a locally deleted file in the Cloud, unless told to delete it', async () => {
      const folder = await setup.folder('p', { a: '1', 'sub/b': '1', c: '1' });
      await setup.push(folder);
      await setup.fixture.write('/p/c', { text: 'theirs' });
      for (const path of ['a', 'sub', 'c']) await rm(join(folder, path), { recursive: true });
      const kept = await setup.push(folder);
      expect([kept.code, kept.out]).toEqual([0, expect.stringContaining('kept 3:\n  a: was deleted here')]);
      const { code, out } = await setup.push(folder, '--delete');
      expect(code).toBe(8);
      expect(out).toContain('deleted 2 files, 0 unchanged.\n');
      expect(out).toContain('  c: was deleted here, and changed in the Cloud since\n');
      expect(await setup.cloud()).toEqual({ '/p/c': 'theirs' });
      expect((await setup.push(folder, '--delete', '--force')).code).toBe(0);
      expect(await setup.cloud()).toEqual({});
    });

    it('treats a file as deleted only if it is gone, not if it is ignored now', async () => {
      const folder = await setup.folder('p', {
        ignored: '1',
        large: '1',
        binary: '1',
        linked: '1',
        moved: '1',
      });
      await setup.push(folder);
      await put(folder, { '.gitignore': 'ignored\n', large: 'x'.repeat(2000), binary: 'a\0b' });
      await rm(join(folder, 'linked'));
      await symlink('moved', join(folder, 'linked'));
      await rename(join(folder, 'moved'), join(folder, 'Moved'));
      const { out } = await setup.push(folder, '--delete', '--max-file-bytes', '1000');
      expect(out).not.toContain('deleted');
      expect(Object.keys(await setup.cloud())).toEqual(
        expect.arrayContaining(['/p/ignored', '/p/large', '/p/binary', '/p/linked', '/p/Moved']),
      );
    });

    it('reports its actions in a dry run and does nothing', async () => {
      const folder = await setup.folder('p', { same: '1', changed: '1', gone: '1', both: '1' });
      await setup.push(folder);
      await setup.fixture.write('/p/both', { text: 'theirs' });
      await put(folder, { changed: '2', fresh: '2', both: '2' });
      await rm(join(folder, 'gone'));
      const before = await setup.cloud();
      const { code, out } = await setup.push(folder, '--dry-run', '--delete');
      expect(code).toBe(8);
      expect(out).toBe(
        [
          'planned 3:',
          '  changed: would be replaced',
          '  fresh: would be added',
          '  gone: would be deleted in the Cloud',
          'conflicts 1:',
          '  both: was changed in the Cloud since, and here too',
          'Nothing was overwritten; --force overwrites, and keeps the other version.',
          'dry run: nothing was changed, 3 files would be, 1 unchanged.',
          '',
        ].join('\n'),
      );
      expect(await setup.cloud()).toEqual(before);
    });
  });
});
