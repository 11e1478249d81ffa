import type { WorkspaceRoot } from '@patchbay/protocol';
import { aRoot, type FakeClient } from '../support/fake-client.js';
import { createCall, type RelayFixture } from '../support/relay-fixture.js';
import { ConnectedClients } from '../../src/clients/connected-clients.js';
import { storesOf } from '../contract/backends.js';
import { onTwoNodes, type TwoNodes } from '../support/two-nodes.js';
import { waitFor } from '../support/wait-for.js';

const LEASE_MS = 90_000;

describe('A client of one of two nodes', () => {
  const nodes = onTwoNodes();
  let two: TwoNodes;
  let [a, b]: RelayFixture[] = [];
  const proj = aRoot('proj');
  beforeEach(() => {
    two = nodes();
    ({ a, b } = two);
  });

  async function folder(fixture: RelayFixture): Promise<WorkspaceRoot> {
    const path = `/workspaces/${fixture.workspaceId}/roots`;
    return (await fixture.user.get<{ roots: WorkspaceRoot[] }>(path)).body.roots[0]!;
  }
  const connect = (fixture: RelayFixture, clientId = 'one'): Promise<FakeClient> =>
    fixture.client({ clientId, roots: [proj] });

  it('is connected for the other node until it leaves [RELAY-19]', async () => {
    const client = await connect(a!);
    expect(await folder(b!)).toMatchObject({ connected: true });
    expect(await folder(b!)).toEqual(await folder(a!));
    client.close();
    await waitFor(async () => !(await folder(b!)).connected, 'the end of its presence');
  });

  it('that moves to the other node stays connected when its old connection ends [RELAY-19]', async () => {
    const client = await connect(a!);
    await connect(b!);
    await client.closed();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await folder(a!)).toMatchObject({ connected: true });
  });

  it('that reconnects after the clock was set back is still the newer connection [RELAY-2] [RELAY-19]', async () => {
    const client = await connect(a!);
    const record = async () =>
      (await storesOf(two.servers.a.app).clients.ofUser(a!.workspaceId, a!.user.id, 9))[0]!;
    const first = await record();
    // As a node with a clock far ahead would have named it.
    const { clients } = storesOf(two.servers.a.app);
    const connectionId = `f${first.connectionId.slice(1)}`;
    await clients.connected({ ...first, connectionId });
    Object.assign(two.servers.a.app.get(ConnectedClients).find(first)!, { connectionId });
    await connect(b!);
    await client.closed();
    expect(client.notices).toContain('client:replaced');
    expect(await record()).toMatchObject({ node: 'b', epoch: 2, leftAt: null });
  });

  it('is disconnected when the lease of its node expires [RELAY-19]', async () => {
    await connect(a!);
    two.nodes.clock.pass(LEASE_MS - 1_000);
    expect(await folder(b!)).toMatchObject({ connected: true });
    two.nodes.clock.pass(1_000);
    const gone = await folder(b!);
    expect(gone.connected).toBe(false);
    two.nodes.clock.pass(60_000);
    // Since when it has left does not change with the time of day.
    expect(await folder(b!)).toEqual(gone);
  });

  it('stays connected while its node renews its lease [RELAY-19]', async () => {
    await connect(a!);
    const { clock } = two.nodes;
    const stores = storesOf(two.servers.a.app);
    for (let round = 0; round < 3; round += 1) {
      clock.pass(LEASE_MS - 1_000);
      await stores.clients.renew('a', clock.now() + LEASE_MS);
      expect(await folder(b!)).toMatchObject({ connected: true });
    }
  });

  it('is disconnected when its node restarts, and clients of other nodes are not [RELAY-19]', async () => {
    const other = aRoot('other');
    await connect(a!);
    await b!.client({ clientId: 'two', roots: [other] });
    await two.nodes.stop(two.servers.a);
    await two.nodes.start('a');
    const path = `/workspaces/${b!.workspaceId}/roots`;
    const { body } = await b!.user.get<{ roots: WorkspaceRoot[] }>(path);
    expect(body.roots).toMatchObject([
      { docPath: 'other', connected: true },
      { docPath: 'proj', connected: false, since: expect.any(String) as string },
    ]);
  });

  it('is found for a call that is posted to the other node and names its folder [RELAY-16]', async () => {
    const here = await b!.client({ clientId: 'two', roots: [aRoot('other')] });
    const there = await connect(a!);
    await b!.post([createCall('c', 'proj/a.txt')]);
    await there.report(await there.delivery());
    expect(here.calls).toEqual([]);
  });

  it('is notified of sessions and file changes on the other node [RELAY-20] [RELAY-21]', async () => {
    const client = await connect(a!);
    await waitFor(() => client.sessions.length === 1, 'the session that there is');
    await b!.newSession();
    await waitFor(() => client.sessions.length === 2, 'the new session');
    expect(client.sessions[1]!.sessionId).toBe(b!.session.sessionId);
    await b!.user.request('PUT', `/workspaces/${b!.workspaceId}/contents/proj/a.txt`, 'a');
    await waitFor(() => client.changed.length > 0, 'the change');
    expect(client.changed[0]!.files).toMatchObject([{ path: '/proj/a.txt', docPath: 'proj/a.txt' }]);
  });
});
