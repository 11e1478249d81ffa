import { appendFile, copyFile, rename, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { CloudFilePage, CloudFileVersionPage } from '@patchbay/protocol';
import { suiteFixture, testFixture } from '../../support/fixtures.js';
import { FolderFixture } from '../../support/folder-fixture.js';
import { waitFor } from '../../support/wait-for.js';

describe('a save in a connected folder [RELAY-44]', () => {
  const fixture = suiteFixture(() => FolderFixture.start());
  const laptop = testFixture(() => fixture.laptop({ 'a.txt': 'a\n', 'b.txt': 'b\n' }));
  beforeEach(async () => {
    await laptop.push();
    await laptop.connect();
  });

  const files = async (deleted = false) =>
    (
      await fixture.user.get<CloudFilePage>(
        `/workspaces/${fixture.workspaceId}/files?prefix=proj/&deleted=${deleted}`,
      )
    ).body.files;
  const idOf = async (path: string) => (await files()).find((file) => file.path === `/proj/${path}`)?.fileId;
  /** Texts of a file, the newest first. */
  const texts = async (fileId: string): Promise<string[]> => {
    const base = `/workspaces/${fixture.workspaceId}/files/${fileId}/versions`;
    const { body } = await fixture.user.get<CloudFileVersionPage>(base);
    return Promise.all(
      body.versions.map(async ({ versionId }) =>
        String((await fixture.user.get<unknown>(`${base}/${versionId}/content`)).body),
      ),
    );
  };
  const at = (path: string) => join(laptop.folder, path);

  it('that deletes and rewrites the file continues its history', async () => {
    const fileId = (await idOf('a.txt'))!;
    await unlink(at('a.txt'));
    await setTimeout(1_200);
    await writeFile(at('a.txt'), 'saved\n');
    await fixture.sent('/proj/a.txt', 'saved\n');
    expect([await idOf('a.txt'), await texts(fileId)]).toEqual([fileId, ['saved\n', 'a\n']]);
    expect(await files(true)).toEqual([]);
  });

  it('creates one version, however many steps it takes', async () => {
    const fileId = (await idOf('a.txt'))!;
    await writeFile(at('a.txt'), '');
    for (let n = 0; n < 8; n += 1) {
      await setTimeout(200);
      await appendFile(at('a.txt'), `${n}\n`);
    }
    await fixture.sent('/proj/a.txt', '0\n1\n2\n3\n4\n5\n6\n7\n');
    expect(await texts(fileId)).toHaveLength(2);
  });

  it('that never pauses is sent after 5 s', async () => {
    const fileId = (await idOf('a.txt'))!;
    const began = Date.now();
    await waitFor(async () => {
      await appendFile(at('a.txt'), 'more\n');
      return (await texts(fileId)).length > 1;
    }, 'the file to be sent');
    expect(Date.now() - began).toBeGreaterThan(4_000);
  });

  it('with a temporary file and a rename, or with a backup, sends the file only', async () => {
    const [a, b] = [(await idOf('a.txt'))!, (await idOf('b.txt'))!];
    await writeFile(at('.a.txt.swp'), 'new a\n');
    await rename(at('.a.txt.swp'), at('a.txt'));
    await rename(at('b.txt'), at('b.txt~'));
    await copyFile(at('b.txt~'), at('4913'));
    await writeFile(at('b.txt'), 'new b\n');
    await unlink(at('4913'));
    await unlink(at('b.txt~'));
    await fixture.sent('/proj/a.txt', 'new a\n');
    await fixture.sent('/proj/b.txt', 'new b\n');
    expect([await texts(a), await texts(b)]).toEqual([
      ['new a\n', 'a\n'],
      ['new b\n', 'b\n'],
    ]);
    expect(await files(true)).toEqual([]);
    expect((await files()).map(({ path }) => path)).toEqual(['/proj/a.txt', '/proj/b.txt']);
  });

  it('of git, to another branch and back, keeps the history', async () => {
    const fileId = (await idOf('a.txt'))!;
    await laptop.git('checkout', '-qb', 'other');
    await laptop.git('rm', '-q', 'a.txt');
    await laptop.commit('without it');
    await laptop.git('checkout', '-q', 'main');
    await laptop.write('b.txt', 'sign\n');
    await fixture.sent('/proj/b.txt', 'sign\n');
    await fixture.agree(laptop);
    expect([await idOf('a.txt'), await texts(fileId)]).toEqual([fileId, ['a\n']]);
  });

  it('that renames a file by case alone reaches the Cloud, its listings and the context', async () => {
    const fileId = (await idOf('a.txt'))!;
    await rename(at('a.txt'), at('A.txt'));
    await waitFor(async () => (await idOf('A.txt')) === fileId, 'the new name');
    expect([await texts(fileId), await files(true)]).toEqual([['a\n'], []]);
    const model = fixture.model();
    expect((await model.patches('proj/a.txt', '// patched')).status).toBe('succeeded');
    expect([await idOf('A.txt'), (await texts(fileId))[0]]).toEqual([fileId, '// patched\na\n']);
  });

  it('that is a deletion is sent', async () => {
    await unlink(at('a.txt'));
    await waitFor(async () => (await files()).length === 1, 'the deletion to be sent');
  });

  it('that is in progress delays a patch of the model', async () => {
    const fileId = (await idOf('a.txt'))!;
    const model = fixture.model();
    await writeFile(at('a.txt'), 'ha');
    const patching = model.patches('proj/a.txt', '// patched');
    await appendFile(at('a.txt'), 'lf, and whole\n');
    await patching;
    expect((await texts(fileId)).filter((text) => text === 'ha')).toEqual([]);
  });
});
