import type { ClientRoot, RelayError, WorkspaceRoot } from '@patchbay/protocol';
import { PatchbayClient } from '@patchbay/client';
import { randomUUID } from 'node:crypto';
import { storesOf } from '../contract/backends.js';
import { aRoot, FakeClient, type FakeClientOptions } from '../support/fake-client.js';
import { suiteFixture, testFixture } from '../support/fixtures.js';
import { hold } from '../support/hold.js';
import { RelayFixture } from '../support/relay-fixture.js';
import { type Answer, startTestServer, type TestUser } from '../support/server.js';
import { waitFor } from '../support/wait-for.js';

describe('a connected folder in the registry', () => {
  const server = suiteFixture(() => startTestServer());
  const ada = suiteFixture(() => server.register('ada@example.com'));
  const bob = suiteFixture(() => server.register('bob@example.com', 'Bob Builder'));
  const fixture = testFixture(() => RelayFixture.on(server, ada));
  beforeEach(async () => {
    await ada.addMember(fixture.workspaceId, bob);
  });

  /** `err.data` of a handshake that is refused. */
  async function refusal(
    roots: unknown,
    change: Partial<FakeClientOptions> = {},
  ): Promise<RelayError | undefined> {
    const error = await FakeClient.connect(fixture.clientOptions({ auth: { roots }, ...change })).then(
      () => new Error('was accepted'),
      (reason: Error) => reason,
    );
    return (error as Error & { data?: RelayError }).data;
  }
  const list = async (user: TestUser): Promise<WorkspaceRoot[]> =>
    (await user.get<{ roots: WorkspaceRoot[] }>(`/workspaces/${fixture.workspaceId}/roots`)).body.roots;
  const put = (user: TestUser, { docPath, ...root }: ClientRoot): Promise<Answer<WorkspaceRoot>> =>
    user.request('PUT', `/workspaces/${fixture.workspaceId}/roots/${encodeURIComponent(docPath)}`, root);

  const many = Array.from({ length: 65 }, (_, at) => aRoot(`p${at}`));
  it.each([
    ['no list', 'proj', 'roots'],
    ['more than 64', many, 'roots'],
    ['a name with a slash', [aRoot('a/b')], 'roots[0].name'],
    ['a name with a backslash', [aRoot('a\\b')], 'roots[0].name'],
    ['a name with a control character', [aRoot('a\nb')], 'roots[0].docPath'],
    ['a name that is "..",', [aRoot('..')], 'roots[0].name'],
    ['a name that is too long', [aRoot('ü'.repeat(128))], 'roots[0].name'],
    ['a name that is blank', [aRoot(' ')], 'roots[0].docPath'],
    ['a rootId that is no UUID', [aRoot('a', 'mine')], 'roots[0].rootId'],
    ['the docPath of another name', [{ ...aRoot('A'), docPath: 'b' }], 'roots[0].docPath'],
    ['a docPath that is not folded', [{ ...aRoot('A'), docPath: 'A' }], 'roots[0].docPath'],
    ['two folders of one name', [aRoot('a'), aRoot('b'), aRoot('A')], 'roots[2].docPath'],
    ['an unknown property', [{ ...aRoot('a'), colour: 'red' }], 'roots[0].colour'],
  ])('is rejected with %s [ROOT-1]', async (_, roots, field) => {
    expect(await refusal(roots)).toEqual({
      code: 'VALIDATION_ERROR',
      message: expect.stringContaining(field) as string,
      fields: expect.objectContaining({ [field]: expect.any(String) as string }) as object,
    });
    expect(await list(ada)).toEqual([]);
  });

  it('owns its name in the workspace from the first connect [ROOT-1] [ROOT-2]', async () => {
    const proj = aRoot('Proj', randomUUID().toUpperCase());
    await fixture.client({ roots: [proj, aRoot('b')] });
    expect(await list(ada)).toMatchObject([{ docPath: 'b' }, { docPath: 'proj', name: 'Proj' }]);
    expect((await list(ada))[1]!.rootId).toBe(proj.rootId.toLowerCase());
    await fixture.client({ clientId: 'other', roots: [{ ...proj, name: 'PROJ' }] });
    expect((await list(ada))[1]!.name).toBe('Proj');
  });

  it('blocks another folder of the same name, with its owner and what to do [ROOT-1]', async () => {
    const proj = aRoot('Proj');
    await fixture.client({ token: bob.token, roots: [proj] });
    const refused = await refusal([aRoot('fresh'), aRoot('proj')]);
    expect(refused).toMatchObject({ code: 'CONFLICT', details: { docPath: 'proj', rootId: proj.rootId } });
    for (const said of ['"proj"', '"Proj"', 'Bob Builder', ' on 20', '--name', '--same-project'])
      expect(refused!.message).toContain(said);
    expect(refused!.message).not.toContain(proj.rootId);
    // Nothing of a handshake that is refused counts.
    expect(await list(ada)).toHaveLength(1);
    await fixture.client({ roots: [aRoot('Proj', proj.rootId)] });
    await fixture.client({ clientId: 'other', roots: [aRoot('proj2')] });
    const elsewhere = await RelayFixture.on(server, ada);
    await elsewhere.client({ roots: [aRoot('proj')] });
    await elsewhere.close();
  });

  it('is blocked by a folder of the same name that registers on another node at the same time [ROOT-1]', async () => {
    const [ours, theirs] = [aRoot('proj'), aRoot('proj')];
    const { roots } = storesOf(server.app);
    const claimAtOnce = roots.claim.bind(roots);
    const slow = hold(roots, 'claim');
    const refused = refusal([ours]);
    await slow.reached;
    const claimedAt = Date.now();
    await claimAtOnce({ ...theirs, workspaceId: fixture.workspaceId, userId: bob.id, claimedAt });
    slow.release();
    expect(await refused).toMatchObject({ code: 'CONFLICT', details: { rootId: theirs.rootId } });
  });

  it('is registered over HTTP like by a connect [ROOT-2]', async () => {
    const proj = aRoot('Prój ect');
    const nothing = { connected: false, since: null, conflicts: [], behind: [], more: 0 };
    const claimed = await put(ada, proj);
    expect([claimed.status, claimed.body]).toEqual([200, { ...proj, ...nothing }]);
    expect((await put(bob, proj)).body).toEqual(claimed.body);
    const { url } = server;
    const workspace = new PatchbayClient({ url, token: ada.token }).workspace(fixture.workspaceId);
    expect(await workspace.claimRoot(proj)).toEqual(claimed.body);
    expect(await workspace.roots()).toEqual([claimed.body]);
    const taken = await put(bob, aRoot('PRÓJ ECT'));
    expect([taken.status, taken.body]).toEqual([
      409,
      { code: 'CONFLICT', error: expect.stringContaining('ada@example.com') as string },
    ]);
    expect(await refusal([aRoot('Prój ect')])).toMatchObject({ code: 'CONFLICT' });
    for (const [docPath, name] of [
      ['other', 'Prój'],
      ['a%2fb', 'a/b'],
      ['..%2f', '../'],
    ]) {
      const path = `/workspaces/${fixture.workspaceId}/roots/${docPath}`;
      expect((await ada.request('PUT', path, { name, rootId: randomUUID() })).status).toBe(400);
    }
  });

  it('is shown as connected, or since when it is not, to the user of its client only [ROOT-2]', async () => {
    const client = await fixture.client({ roots: [aRoot('proj')] });
    const [connected] = await list(ada);
    expect(connected).toMatchObject({ connected: true, since: expect.stringMatching(/^20/) as string });
    expect(await list(bob)).toMatchObject([{ connected: false, since: null }]);
    client.close();
    await waitFor(async () => !(await list(ada))[0]!.connected, 'the end of its presence');
    const [away] = await list(ada);
    expect(away!.since! >= connected!.since!).toBe(true);
    await fixture.client({ roots: [] });
    // It has another folder now, or none: nobody has the first one any more.
    expect(await list(ada)).toMatchObject([{ connected: false, since: null }]);
  });

  it('can be removed by its user or an owner; its files stay [ROOT-3]', async () => {
    const [proj, other] = [aRoot('Prój ect'), aRoot('proj')];
    const client = await fixture.client({ roots: [proj] });
    await put(bob, aRoot('bobs'));
    await ada.post(`/workspaces/${fixture.workspaceId}/tools`, {
      ...{ tool: 'write', args: { path: '/Prój ect/a', content: { text: 'x' } } },
    });
    const { url } = server;
    const workspace = new PatchbayClient({ url, token: ada.token }).workspace(fixture.workspaceId);
    const forget = (user: TestUser, docPath: string): Promise<Answer<{ code: string } | null>> =>
      user.request('DELETE', `/workspaces/${fixture.workspaceId}/roots/${encodeURIComponent(docPath)}`);
    expect((await forget(bob, proj.docPath)).body).toMatchObject({ code: 'FORBIDDEN' });
    expect((await forget(ada, 'none')).body).toMatchObject({ code: 'NOT_FOUND' });
    expect((await forget(await server.register(), proj.docPath)).status).toBe(403);
    expect((await forget(bob, 'bobs')).status).toBe(204);
    await workspace.forgetRoot(proj.docPath);
    await put(bob, other);
    await workspace.forgetRoot('proj');
    expect(await list(ada)).toEqual([]);
    expect((await ada.get(`/workspaces/${fixture.workspaceId}/contents/Pr%C3%B3j%20ect/a`)).status).toBe(200);
    expect(client.closedBecause).toBeNull();
    await fixture.client({ roots: [proj] });
    expect(await list(ada)).toMatchObject([{ docPath: proj.docPath, connected: true }]);
    await workspace.forgetRoot(proj.docPath);
    await put(bob, aRoot('Prój ect'));
    expect(await refusal([proj])).toMatchObject({ code: 'CONFLICT' });
  });

  it('is one of at most a hundred of a member [ROOT-2]', async () => {
    const names = Array.from({ length: 100 }, (_, at) => aRoot(`p${at}`));
    await fixture.client({ roots: names.slice(0, 50) });
    await fixture.client({ roots: names.slice(50) });
    const more = await put(ada, aRoot('more'));
    expect([more.status, more.body]).toMatchObject([409, { code: 'CONFLICT' }]);
    expect(await refusal([aRoot('more')])).toMatchObject({
      ...{ code: 'CONFLICT', message: expect.stringContaining('100 folders') as string },
    });
    await ada.request('DELETE', `/workspaces/${fixture.workspaceId}/roots/p98`);
    const slow = hold(storesOf(server.app).roots, 'claim');
    const atOnce = ['one', 'two', 'three'].map((name) => put(ada, aRoot(name)));
    await slow.reached;
    // The others are as far as they come.
    await list(ada);
    slow.release();
    expect((await Promise.all(atOnce)).map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    expect((await put(ada, names[0]!)).status).toBe(200);
    expect((await put(bob, aRoot('more'))).status).toBe(200);
    await ada.request('DELETE', `/workspaces/${fixture.workspaceId}/roots/p99`);
    expect((await put(ada, aRoot('yet-another'))).status).toBe(200);
  });

  it('can be listed and registered by members only', async () => {
    const stranger = await server.register();
    const path = `/workspaces/${fixture.workspaceId}/roots`;
    expect((await stranger.get(path)).status).toBe(403);
    expect((await put(stranger, aRoot('a'))).status).toBe(403);
  });
});
