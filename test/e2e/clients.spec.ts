import type { ClientPresence } from '@patchbay/protocol';
import { aRoot } from '../support/fake-client.js';
import { suiteFixture } from '../support/fixtures.js';
import { RelayFixture } from '../support/relay-fixture.js';
import { waitFor } from '../support/wait-for.js';

describe("a user's clients", () => {
  const fixture = suiteFixture(() => RelayFixture.start());

  it('are listed for the user only, connected ones first [ROOT-4]', async () => {
    const path = `/workspaces/${fixture.workspaceId}/clients`;
    const list = async () => (await fixture.user.get<{ clients: ClientPresence[] }>(path)).body.clients;
    expect(await list()).toEqual([]);
    const first = await fixture.client({ clientId: 'first', roots: [aRoot('Proj'), aRoot('b')] });
    await fixture.client({ clientId: 'second' });
    first.close();
    await waitFor(async () => (await list())[1]?.connected === false, 'the first to have left');
    const since = expect.stringMatching(/Z$/) as string;
    expect(await list()).toEqual([
      { clientId: 'second', name: 'test', connected: true, since, roots: [] },
      { clientId: 'first', name: 'test', connected: false, since, roots: ['Proj', 'b'] },
    ]);
    const other = await fixture.server.register();
    expect((await other.get(path)).status).toBe(403);
    await fixture.user.addMember(fixture.workspaceId, other);
    expect((await other.get(path)).body).toEqual({ clients: [] });
  });
});
