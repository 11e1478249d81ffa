import { suiteFixture } from '../../support/fixtures.js';
import { ToolsFixture } from '../../support/tools-fixture.js';

describe('bad input to POST /tools', () => {
  const fixture = suiteFixture(() => ToolsFixture.start());

  it('concurrent writes and removals of one folder keep it consistent', async () => {
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
