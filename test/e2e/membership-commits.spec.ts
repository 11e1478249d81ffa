import { sha256 } from '@patchbay/protocol/hash';
import { storesOf } from '../contract/backends.js';
import { suiteFixture, testFixture } from '../support/fixtures.js';
import { hold } from '../support/hold.js';
import { MembershipFixture, NOT_A_MEMBER } from '../support/membership-fixture.js';
import { createCall } from '../support/relay-fixture.js';
import { type Answer, startTestServer } from '../support/server.js';
import { waitFor } from '../support/wait-for.js';

describe('a membership that ends before a commit', () => {
  const server = suiteFixture(() => startTestServer());
  const setup = testFixture(() => MembershipFixture.on(server));
  const ada = testFixture(() => setup.ada);
  const ben = testFixture(() => setup.ben);

  /** What the workspace holds that ben could have written. */
  async function written(): Promise<unknown> {
    const { usage, files, blobs, turns: store } = storesOf(server.app);
    // MongoDB stores bytes ahead of the version that is refused; nothing refers to them, and they are swept.
    const { bytes: _swept, ...used } = await usage.ofWorkspace(setup.workspaceId);
    return [
      used,
      await blobs.missing(setup.workspaceId, [sha256('blob')]),
      await files.below(setup.workspaceId, '', null, 99),
      // The turn of a direct call was accepted before the removal, and ends by it.
      (await store.openIn(setup.workspaceId, null, null, 99)).filter(({ direct }) => !direct),
      // A call that failed is recorded.
      (await setup.steps()).filter((name) => !/Cancelled|ResultReceived|LateResult/.test(name)),
    ];
  }

  /** Each held between its last check in memory and its commit. */
  const HELD: [string, 'files' | 'sessions' | 'turns' | 'blobs', string, () => Promise<Answer>][] = [
    ['a file', 'files', 'insert', () => ben.request('PUT', `${setup.base}/contents/new`, Buffer.from('x'))],
    [
      'a version',
      'files',
      'commitVersion',
      () => ben.request('PUT', `${setup.base}/contents/a`, Buffer.from('x')),
    ],
    [
      'the end of a file',
      'files',
      'save',
      () => ben.post(`${setup.base}/tools`, { tool: 'rm', args: { path: '/a' } }),
    ],
    [
      'a folder',
      'files',
      'insertFolder',
      () => ben.post(`${setup.base}/tools`, { tool: 'mkdir', args: { path: '/b' } }),
    ],
    [
      'a blob',
      'blobs',
      'put',
      () => ben.request('PUT', `${setup.base}/blobs/${sha256('blob')}`, Buffer.from('blob')),
    ],
    ['a session', 'sessions', 'insert', () => ben.post(`${setup.base}/sessions`, {})],
    ['a turn', 'turns', 'insert', () => setup.post(ben, [createCall('a')], 0)],
  ];

  it.each(HELD)('of %s leaves it unwritten [MEMBER-2]', async (_, port, method, act) => {
    await setup.write(ada, '/a');
    const slow = hold(storesOf(server.app)[port] as never, method);
    const answer = act();
    await slow.reached;
    await setup.remove();
    const before = await written();
    slow.release();
    expect(await answer).toMatchObject(NOT_A_MEMBER);
    expect(await written()).toEqual(before);
  });

  it('cancels the call whose result is about to be committed [MEMBER-2]', async () => {
    const client = await setup.client();
    await setup.post(ben, [createCall('a')], 0);
    const call = await client.delivery();
    await waitFor(
      async () => (await setup.steps()).includes('CreateFile.Acknowledged'),
      'the acknowledgement',
    );
    const slow = hold(storesOf(server.app).turns, 'save');
    client.report(call).catch(() => undefined);
    await slow.reached;
    await setup.remove();
    slow.release();
    await waitFor(async () => (await setup.steps()).includes('CreateFile.Cancelled'), 'the call cancelled');
    expect(await setup.steps()).not.toContain('CreateFile.ResultReceived');
    client.close();
  });
});
