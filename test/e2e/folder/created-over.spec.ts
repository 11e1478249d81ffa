import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suiteFixture, testFixture } from '../../support/fixtures.js';
import { refusalOf } from '../../support/folder-model.js';
import { FolderFixture } from '../../support/folder-fixture.js';

describe('a create over a file of a connected folder', () => {
  const fixture = suiteFixture(() => FolderFixture.start());
  const laptop = testFixture(() => fixture.laptop({ 'README.md': 'read me\n', 'src/Lib/a.ts': 'a\n' }));
  const model = testFixture(() => fixture.model());

  const kept = async (): Promise<string[]> =>
    (await readdir(laptop.folder)).filter((name) => name.includes('.patchbay-kept'));

  it.each([
    ['in UTF-16', Buffer.from('\ufeffhello\n', 'utf16le'), true],
    ['that was too large', Buffer.alloc(8 * 1024 * 1024 + 1, 'x'), true],
    ['in UTF-16 of a folder that was never pushed', Buffer.from('\ufeffhello\n', 'utf16le'), false],
  ])('%s becomes the Cloud’s first version, and later ones follow it', async (_kind, bytes, pushed) => {
    await writeFile(join(laptop.folder, 'odd.txt'), bytes);
    if (pushed) await laptop.push();
    const connected = await laptop.connect();
    await model.creates('proj/odd.txt', 'one\n', { overwrite: true });
    expect(await model.reads('proj/odd.txt')).toMatchObject({ content: 'one\n' });
    expect((await fixture.cloud())['odd.txt']).toBe('one\n');
    for (const text of ['two\n', 'three\n']) {
      await model.creates('proj/odd.txt', text, { overwrite: true });
      expect((await fixture.cloud())['odd.txt']).toBe(text);
    }
    // What was never in a version stays beside the file, once.
    expect(await kept()).toEqual(['odd.txt.patchbay-kept']);
    expect(connected.stderr).not.toContain('STALE');
    expect(refusalOf(await model.patches('proj/odd.txt', 'zero'))).toBeNull();
    expect(await laptop.read('odd.txt')).toBe('zero\nthree\n');
  });

  it('does not use a Cloud text that the folder never had as base: both are kept', async () => {
    await writeFile(join(laptop.folder, 'odd.txt'), Buffer.from('\ufeffhello\n', 'utf16le'));
    await model.does('write', { path: '/proj/odd.txt', content: { text: 'of the Cloud\n' } });
    await laptop.connect();
    await model.creates('proj/odd.txt', 'one\n', { overwrite: true });
    expect((await fixture.cloud())['odd.txt']).toBe('of the Cloud\n');
    expect(await laptop.read('odd.txt')).toBe('one\n');
  });

  it.each([[true], [false]])(
    'matches the file by its docPath, without a twin, and continues its history (pushed: %s) [CREATE-2]',
    async (pushed) => {
      if (pushed) await laptop.push();
      await laptop.connect();
      for (const path of ['proj/readme.md', 'PROJ/ReadMe.MD', 'readme.md']) {
        expect(refusalOf(await model.call('workspace_create_file', { path, content: 'x' }))).toBe(
          'FileExists',
        );
      }
      await model.creates('proj/readme.md', 'new\n', { overwrite: true });
      const made = await model.creates('proj/SRC/lib/b.ts', 'b\n');
      expect(made).toMatchObject({ path: 'proj/SRC/lib/b.ts', docPath: 'proj/src/lib/b.ts', created: true });
      const files = { 'README.md': 'new\n', 'src/Lib/a.ts': 'a\n', 'src/Lib/b.ts': 'b\n' };
      expect(await laptop.files()).toEqual(files);
      const cloud = pushed ? files : { 'README.md': 'new\n', 'src/Lib/b.ts': 'b\n' };
      expect(await fixture.cloud()).toEqual(cloud);
      expect(await kept()).toEqual([]);
    },
  );
});
