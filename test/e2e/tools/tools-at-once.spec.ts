import { ToolsFixture } from '../../support/tools-fixture.js';

describe('bad input to POST /tools', () => {
  let fixture: ToolsFixture;
  beforeAll(async () => {
    fixture = await ToolsFixture.start();
  });
  afterAll(() => fixture.close());

  it('writers and removers of one folder leave it whole', async () => {
    await Promise.all(
      Array.from({ length: 60 }, (_, n) => {
        if (n % 3 === 0) return fixture.call('rm', { path: '/busy' });
        const path = `/busy/${n % 5}`;
        return n % 3 === 1 ? fixture.call('write', { path, content: 'x' }) : fixture.call('rm', { path });
      }),
    );
    await fixture.write('/busy/last');
    const listed = await fixture.list('/busy');
    for (const path of listed) expect(await fixture.read(path)).toBeDefined();
    expect(await fixture.list('/', false)).toContain('/busy');
  });
});
