import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { aRoot } from '../support/fake-client.js';
import { patchCall } from '../support/patch-fixture.js';
import { createCall, RelayFixture } from '../support/relay-fixture.js';
import { startTestServer } from '../support/server.js';

const [CREATE, PATCH] = ['workspace_create_file', 'workspace_write_patch'];

describe('a call that has waited during a restart', () => {
  let dataDir: string;
  beforeEach(async () => void (dataDir = await mkdtemp(join(tmpdir(), 'patchbay-restarts-'))));
  afterEach(() => rm(dataDir, { recursive: true, force: true }));

  it('goes to the folder that another turn of its session has used since [RELAY-17]', async () => {
    const [proj, other] = [aRoot('proj'), aRoot('other')];
    const first = await startTestServer({ config: { dataDir } });
    const fixture = await RelayFixture.on(first, await first.register());
    const client = await fixture.client({ clientId: 'one', roots: [proj], tools: [CREATE] });
    // Nobody has the tool of the first turn; the second one goes to the folder.
    await fixture.post([patchCall([{ docPath: 'a.txt' }])], { turnId: 'waits' });
    await fixture.post([createCall('c')], { turnId: 'went' });
    await client.report(await client.delivery());
    client.close();
    await first.close();
    const second = await startTestServer({ config: { dataDir } });
    const again = fixture.movedTo(second);
    const strange = await again.client({ clientId: 'two', roots: [other], tools: [CREATE, PATCH] });
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(strange.calls).toEqual([]);
    const right = await again.client({ clientId: 'three', roots: [proj], tools: [CREATE, PATCH] });
    expect((await right.delivery()).toolCallId).toBe('p1');
    await again.close();
    await second.close();
  });
});
