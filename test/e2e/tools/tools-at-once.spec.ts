import { ToolsScene } from '../../support/tools-scene.js';

describe('bad input to POST /tools', () => {
  let scene: ToolsScene;
  beforeAll(async () => {
    scene = await ToolsScene.start();
  });
  afterAll(() => scene.close());

  it('a folder is never a file: of two that want to be both, one is refused', async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        scene.call('write', { path: n % 2 ? `/both/${n}` : '/both', content: 'x' }),
      ),
    );
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused).toHaveLength(5);
    for (const { status } of refused) expect([400, 409]).toContain(status);
  });

  it('many writers of one path each leave a version, in one order', async () => {
    const writes = await Promise.all(Array.from({ length: 50 }, (_, n) => scene.write('/crowd/file', { n })));
    expect(new Set(writes.map(({ file_id }) => file_id)).size).toBe(1);
    const { body } = await scene.user.get<{ versions: { number: number; versionId: string }[] }>(
      `${scene.base}/files/${writes[0]!.file_id}/versions?limit=100`,
    );
    expect(body.versions.map(({ number }) => number)).toEqual(Array.from({ length: 50 }, (_, n) => 50 - n));
    expect(new Set(body.versions.map(({ versionId }) => versionId))).toEqual(
      new Set(writes.map(({ version_id }) => version_id)),
    );
    const made = await scene.trail('&event=Folder.Created&path=/crowd');
    expect(made).toHaveLength(1);
  });

  it('writers and removers of one folder leave it whole', async () => {
    await Promise.all(
      Array.from({ length: 60 }, (_, n) => {
        if (n % 3 === 0) return scene.call('rm', { path: '/busy' });
        const path = `/busy/${n % 5}`;
        return n % 3 === 1 ? scene.call('write', { path, content: 'x' }) : scene.call('rm', { path });
      }),
    );
    await scene.write('/busy/last');
    const listed = await scene.list('/busy');
    for (const path of listed) expect(await scene.read(path)).toBeDefined();
    expect(await scene.list('/', false)).toContain('/busy');
  });
});
