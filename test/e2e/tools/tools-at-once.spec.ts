import { ToolsScene } from '../../support/tools-scene.js';

describe('bad input to POST /tools', () => {
  let scene: ToolsScene;
  beforeAll(async () => {
    scene = await ToolsScene.start();
  });
  afterAll(() => scene.close());

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
