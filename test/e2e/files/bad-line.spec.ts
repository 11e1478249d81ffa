import { packBlobs } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { suiteFixture } from '../../support/fixtures.js';
import { ToolsFixture } from '../../support/tools-fixture.js';

/* What the features promise of files must not depend on when the store does what, nor on its answers getting through. */
describe.each([1, 2, 3])('files on a store behind a bad connection (seed %i)', (badLine) => {
  const fixture = suiteFixture(() => ToolsFixture.start({}, { badLine }));

  const many = <T>(count: number, each: (n: number) => Promise<T>): Promise<T[]> =>
    Promise.all(Array.from({ length: count }, (_, n) => each(n)));
  const statuses = (answers: { status: number }[]) => answers.map(({ status }) => status).sort();
  const events = async (name: string) =>
    (await fixture.trail(`&event=${name}`)).map(({ fields }) => fields.path);

  it('are all stored when written concurrently into missing folders', async () => {
    const paths = Array.from({ length: 12 }, (_, n) => `/new/${n % 3}/deep/${n}`);
    await many(paths.length, (n) => fixture.write(paths[n]!));
    const found = await fixture.list('/new', true);
    expect(found.filter((path) => paths.includes(path)).sort()).toEqual(paths.toSorted());
    expect((await events('Folder.Created')).sort()).toEqual([
      ...['new', 'new/0', 'new/0/deep', 'new/1', 'new/1/deep', 'new/2', 'new/2/deep'],
    ]);
  });

  it('become one version each when written concurrently at one path', async () => {
    const written = await many(6, (n) => fixture.write('/one', { text: `${n}` }));
    const [{ file_id }] = written as [{ file_id: string }];
    const { body } = await fixture.user.get<{ versions: { versionId: string; number: number }[] }>(
      `${fixture.base}/files/${file_id}/versions`,
    );
    expect(body.versions.map(({ number }) => number)).toEqual([6, 5, 4, 3, 2, 1]);
    expect(body.versions.map(({ versionId }) => versionId).sort()).toEqual(
      written.map(({ version_id }) => version_id).sort(),
    );
  });

  it('are deleted, moved and restored once by concurrent requests', async () => {
    const { file_id } = await fixture.write('/gone');
    expect(statuses(await many(4, () => fixture.call('rm', { path: '/gone' })))).toEqual([
      200, 404, 404, 404,
    ]);
    const restored = await many(4, () => fixture.user.post(`${fixture.base}/files/${file_id}/restore`));
    expect(statuses(restored)).toEqual([200, 200, 200, 200]);
    const moves = await many(4, (n) => fixture.call('mv', { from: '/gone', to: `/moved/${n}` }));
    expect(statuses(moves)).toEqual([200, 404, 404, 404]);
    expect(await fixture.list('/moved')).toHaveLength(1);
    for (const name of ['File.Deleted', 'File.Restored', 'File.Moved']) {
      expect([name, (await events(name)).length]).toEqual([name, 1]);
    }
  });

  it('are committed in order with changes that affect them', async () => {
    await fixture.raw('POST', '/blobs', {}, packBlobs(['x', 'y'].map((text) => Buffer.from(text))));
    const file = (path: string, text: string, base: string | null = null) => ({
      ...{ path, sha256: sha256(text), baseSha256: base && sha256(base) },
    });
    const files = [file('P/f', 'x'), file('P/f', 'y', 'x'), file('P/f/below', 'x'), file('P', 'x')];
    const { body } = await fixture.user.post<{ files: object[] }>(`${fixture.base}/files/commit`, { files });
    expect(body.files).toMatchObject([
      ...[{ path: '/P/f' }, { path: '/P/f' }],
      ...[{ error: { code: 'CONFLICT' } }, { error: { code: 'VALIDATION_ERROR' } }],
    ]);
    expect(await fixture.read('/P/f')).toEqual({ text: 'y' });
  });
});
