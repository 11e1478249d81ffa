import type { ClientPresence } from '@patchbay/protocol';
import { aRoot } from '../support/fake-client.js';
import { RelayScene } from '../support/relay-scene.js';
import { waitFor } from '../support/wait-for.js';

describe("a user's clients", () => {
  let scene: RelayScene;
  beforeAll(async () => void (scene = await RelayScene.start()));
  afterAll(() => scene.close());

  it('are told to the user alone, those that are connected before those that were [ROOT-4]', async () => {
    const path = `/workspaces/${scene.workspaceId}/clients`;
    const list = async () => (await scene.user.get<{ clients: ClientPresence[] }>(path)).body.clients;
    expect(await list()).toEqual([]);
    const first = await scene.client({ clientId: 'first', roots: [aRoot('Proj'), aRoot('b')] });
    await scene.client({ clientId: 'second' });
    first.close();
    await waitFor(async () => (await list())[1]?.connected === false, 'the first to have left');
    const since = expect.stringMatching(/Z$/) as string;
    expect(await list()).toEqual([
      { clientId: 'second', name: 'test', connected: true, since, roots: [] },
      { clientId: 'first', name: 'test', connected: false, since, roots: ['Proj', 'b'] },
    ]);
    const other = await scene.server.register();
    expect((await other.get(path)).status).toBe(403);
    await scene.user.addMember(scene.workspaceId, other);
    expect((await other.get(path)).body).toEqual({ clients: [] });
  });
});
