import { describeContract } from './backends.js';
import { aFile, aFolder, givenFile, givenFolder, moved } from './file-records.js';
import { anEvent, givenWorkspace, trailOf, upTo } from './records.js';
import { NOON } from '../../src/turns/state/turn.sample.js';

describeContract('folders', (opened) => {
  const files = () => opened().stores.files;
  const given = (workspaceId: string, path: string) => givenFile(opened().stores, workspaceId, path);
  const made = (workspaceId: string, path: string) => givenFolder(opened().stores, workspaceId, path);
  const remove = (file: Awaited<ReturnType<typeof given>>) =>
    files().save(moved(file, { deletedAt: NOON }), file.revision, []);
  const paths = (entries: { path: string }[]): string[] => entries.map(({ path }) => path);

  it('are found by docPath, in their own spelling', async () => {
    const workspaceId = await givenWorkspace(opened().stores);
    const folder = await made(workspaceId, '/Docs');
    expect(await files().at(workspaceId, 'docs')).toEqual(folder);
    expect(await files().byId(workspaceId, folder.id)).toBeNull();
  });

  it('are created once, where neither a folder nor a file exists', async () => {
    const workspaceId = await givenWorkspace(opened().stores);
    await given(workspaceId, '/file');
    await made(workspaceId, '/docs');
    for (const path of ['/docs', '/DOCS', '/file']) {
      expect(await files().insertFolder(aFolder(workspaceId, path), [anEvent()])).toBe(false);
    }
    expect(await trailOf(opened().stores, workspaceId)).toEqual([]);
  });

  it('are removed by one of several concurrent removals, and can be created again', async () => {
    const workspaceId = await givenWorkspace(opened().stores);
    const folder = await made(workspaceId, '/docs');
    const removed = await Promise.all(upTo(3).map(() => files().removeFolder(folder, NOON, [anEvent()])));
    expect(removed.filter(Boolean)).toHaveLength(1);
    expect(await files().at(workspaceId, 'docs')).toBeNull();
    expect(await trailOf(opened().stores, workspaceId)).toHaveLength(1);
    const again = await made(workspaceId, '/Docs');
    expect(await files().at(workspaceId, 'docs')).toEqual(again);
  });

  it('are created, removed and recorded once when repeated', async () => {
    const workspaceId = await givenWorkspace(opened().stores);
    const folder = aFolder(workspaceId, '/docs');
    const [creation, removal] = [[anEvent()], [anEvent()]];
    const make = () => files().insertFolder(folder, creation);
    const drop = () => files().removeFolder(folder, NOON, removal);
    expect([await make(), await make(), await drop(), await drop(), await make()]).toEqual(
      upTo(5).map(() => true),
    );
    expect(await files().at(workspaceId, 'docs')).toBeNull();
    expect(await trailOf(opened().stores, workspaceId)).toHaveLength(2);
    const next = await made(workspaceId, '/docs');
    expect(await drop()).toBe(true);
    expect(await files().at(workspaceId, 'docs')).toEqual(next);
  });

  it('list their entries by code point and their descendants by docPath, in pages', async () => {
    const workspaceId = await givenWorkspace(opened().stores);
    for (const path of ['/d', '/d/sub', '/d/sub/deep']) await made(workspaceId, path);
    const names = ['b', 'B2', '\u{1F600}', '\uFF5E', 'sub-x', 'sub/y'].map((name) => `/d/${name}`);
    for (const path of [...names, '/e', '/d.txt']) await given(workspaceId, path);
    await remove(await given(workspaceId, '/d/gone'));
    const children = ['/d/B2', '/d/b', '/d/sub', '/d/sub-x', '/d/\uFF5E', '/d/\u{1F600}'];
    expect(paths(await files().childrenOf(workspaceId, 'd', null, 9))).toEqual(children);
    expect(paths(await files().childrenOf(workspaceId, 'd', '/d/b', 2))).toEqual(children.slice(2, 4));
    const below = await files().below(workspaceId, 'd', null, 99);
    expect(paths(below)).toEqual([
      ...['/d/b', '/d/B2', '/d/sub', '/d/sub-x', '/d/sub/deep', '/d/sub/y', '/d/\uFF5E', '/d/\u{1F600}'],
    ]);
    expect(await files().below(workspaceId, 'd', below[2]!.docPath, 2)).toEqual(below.slice(3, 5));
    expect(paths(await files().childrenOf(workspaceId, '', null, 9))).toEqual(['/d', '/d.txt', '/e']);
    expect(await files().below(workspaceId, '', null, 99)).toHaveLength(11);
    expect(below[0]).toEqual({ kind: 'file', path: '/d/b', docPath: 'd/b', updatedAt: NOON });
  });

  describe('that nobody made', () => {
    const implied = (workspaceId: string, path: string) => ({
      ...{
        kind: 'folder',
        id: null,
        workspaceId,
        path,
        docPath: path.slice(1).toLowerCase(),
        createdAt: NOON,
      },
    });

    it('are there for as long as something is below them, as that spells them', async () => {
      const workspaceId = await givenWorkspace(opened().stores);
      const file = await given(workspaceId, '/My/Docs/a');
      expect(await files().at(workspaceId, 'my')).toEqual(implied(workspaceId, '/My'));
      expect(await files().at(workspaceId, 'my/docs')).toEqual(implied(workspaceId, '/My/Docs'));
      const entry = { kind: 'folder', path: '/My', docPath: 'my', updatedAt: NOON };
      expect(await files().childrenOf(workspaceId, '', null, 9)).toEqual([entry]);
      expect(paths(await files().below(workspaceId, '', null, 9))).toEqual(['/My', '/My/Docs', '/My/Docs/a']);
      expect(paths(await files().childrenOf(workspaceId, 'my', null, 9))).toEqual(['/My/Docs']);
      const [elsewhere] = [await givenWorkspace(opened().stores)];
      expect(await files().at(elsewhere, 'my')).toBeNull();
      expect(await files().childrenOf(elsewhere, '', null, 9)).toEqual([]);
      await remove(file);
      for (const docPath of ['my', 'my/docs']) expect(await files().at(workspaceId, docPath)).toBeNull();
      expect(await files().below(workspaceId, '', null, 9)).toEqual([]);
    });

    it('can be made, and are then there without anything below them', async () => {
      const workspaceId = await givenWorkspace(opened().stores);
      const file = await given(workspaceId, '/a/b/c');
      const folder = await made(workspaceId, '/a/b');
      expect(await files().at(workspaceId, 'a/b')).toEqual(folder);
      expect(await files().childrenOf(workspaceId, 'a', null, 9)).toHaveLength(1);
      await remove(file);
      expect(paths(await files().below(workspaceId, '', null, 9))).toEqual(['/a', '/a/b']);
      expect(await files().removeFolder(folder, NOON, [])).toBe(true);
      expect(await files().below(workspaceId, '', null, 9)).toEqual([]);
    });

    it('stay in the place of one that is removed while something is in it', async () => {
      const workspaceId = await givenWorkspace(opened().stores);
      const folder = await made(workspaceId, '/docs');
      const file = await given(workspaceId, '/docs/a');
      expect(await files().removeFolder(folder, NOON, [])).toBe(true);
      expect(await files().at(workspaceId, 'docs')).toEqual(implied(workspaceId, '/docs'));
      expect(paths(await files().childrenOf(workspaceId, '', null, 9))).toEqual(['/docs']);
      await files().save(moved(file, { path: '/b', docPath: 'b' }), 1, []);
      expect(paths(await files().below(workspaceId, '', null, 9))).toEqual(['/b']);
    });

    it('follow files that move, come back, and change their spelling', async () => {
      const workspaceId = await givenWorkspace(opened().stores);
      const file = await given(workspaceId, '/a/x');
      const elsewhere = moved(file, { path: '/B/y', docPath: 'b/y' });
      await files().save(elsewhere, 1, []);
      expect(paths(await files().below(workspaceId, '', null, 9))).toEqual(['/B', '/B/y']);
      const gone = moved(elsewhere, { deletedAt: NOON });
      await files().save(gone, 2, []);
      expect(await files().below(workspaceId, '', null, 9)).toEqual([]);
      const back = moved(gone, { path: '/b/y', deletedAt: null });
      await files().save(back, 3, []);
      expect(paths(await files().below(workspaceId, '', null, 9))).toEqual(['/b', '/b/y']);
      await files().save(moved(back, { path: '/B/Y' }), 4, []);
      expect(paths(await files().below(workspaceId, '', null, 9))).toEqual(['/B', '/B/Y']);
    });

    it('are covered by a file, and listed below it', async () => {
      const workspaceId = await givenWorkspace(opened().stores);
      const above = await given(workspaceId, '/a');
      const below = await given(workspaceId, '/a/b');
      expect(await files().at(workspaceId, 'a')).toEqual(above);
      expect(await files().at(workspaceId, 'a/b')).toEqual(below);
      expect(await files().childrenOf(workspaceId, '', null, 9)).toMatchObject([
        { kind: 'file', path: '/a' },
      ]);
      expect(paths(await files().childrenOf(workspaceId, 'a', null, 9))).toEqual(['/a/b']);
      expect(paths(await files().below(workspaceId, '', null, 9))).toEqual(['/a', '/a/b']);
      expect(await files().insertFolder(aFolder(workspaceId, '/a'), [])).toBe(false);
      await remove(above);
      expect(await files().at(workspaceId, 'a')).toMatchObject({ kind: 'folder', id: null });
      expect(await files().insert(aFile(workspaceId, '/A'), Buffer.from('/A'), [])).toBe(true);
      expect(paths(await files().below(workspaceId, '', null, 9))).toEqual(['/A', '/a/b']);
    });

    it('are kept over a restart', async () => {
      const workspaceId = await givenWorkspace(opened().stores);
      await given(workspaceId, '/a/b');
      await opened().reopen();
      expect(await files().at(workspaceId, 'a')).toEqual(implied(workspaceId, '/a'));
    });
  });
});
