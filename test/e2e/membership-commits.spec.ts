import type { InvokeResult, Session, TurnResult } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { storesOf } from '../contract/backends.js';
import { hold } from '../support/hold.js';
import { readTrail } from '../support/invariants.js';
import { createCall } from '../support/relay-fixture.js';
import { type Answer, startTestServer, type TestServer } from '../support/server.js';
import type { TestUser } from '../support/test-user.js';
import { FakeClient } from '../support/fake-client.js';
import { waitFor } from '../support/wait-for.js';

const REFUSED = {
  status: 403,
  body: { error: 'Access forbidden: User is not a member of this workspace', code: 'FORBIDDEN' },
};
type TurnAnswer = InvokeResult<TurnResult>;

describe('a membership that ends before a commit', () => {
  let server: TestServer;
  let ada: TestUser;
  let ben: TestUser;
  let base: string;
  let workspaceId: string;
  let turns: string;

  beforeAll(async () => {
    server = await startTestServer();
    [ada, ben] = await Promise.all([server.register(), server.register()]);
  });
  beforeEach(async () => {
    workspaceId = (await ada.createWorkspace()).id;
    base = `/workspaces/${workspaceId}`;
    await ada.addMember(workspaceId, ben);
    const { body } = await ben.post<Session>(`${base}/sessions`, {});
    turns = `${base}/sessions/${body.sessionId}/turns`;
  });
  afterAll(() => server.close());

  const remove = async (): Promise<void> => {
    expect((await ada.request('DELETE', `${base}/members/${ben.id}`)).status).toBe(204);
  };
  const post = (user: TestUser, toolCalls: unknown[], waitMs = 20_000) =>
    user.post<TurnAnswer>(turns, { turnId: 't', toolCalls, waitMs });
  const write = (user: TestUser, path: string) =>
    user.post(`${base}/tools`, { tool: 'write', args: { path, content: { text: 'needle' } } });
  const steps = async (query = '') =>
    (await readTrail(ada, workspaceId, query)).map(({ name }) => name.replace('Tool.', ''));

  /** What the workspace holds that ben could have written. */
  async function written(): Promise<unknown> {
    const { usage, files, blobs, turns: store } = storesOf(server.app);
    // MongoDB stores bytes ahead of the version that is refused; nothing refers to them, and they are swept.
    const { bytes: _swept, ...used } = await usage.ofWorkspace(workspaceId);
    return [
      used,
      await blobs.missing(workspaceId, [sha256('blob')]),
      await files.below(workspaceId, '', null, 99),
      // The turn of a direct call was accepted before the removal, and ends by it.
      (await store.openIn(workspaceId, null, null, 99)).filter(({ direct }) => !direct),
      // A call that failed is recorded.
      (await steps()).filter((name) => !/Cancelled|ResultReceived/.test(name)),
    ];
  }

  /** Each held between its last check in memory and its commit. */
  const HELD: [string, 'files' | 'sessions' | 'turns' | 'blobs', string, () => Promise<Answer>][] = [
    ['a file', 'files', 'insert', () => ben.request('PUT', `${base}/contents/new`, Buffer.from('x'))],
    ['a version', 'files', 'commitVersion', () => ben.request('PUT', `${base}/contents/a`, Buffer.from('x'))],
    [
      'the end of a file',
      'files',
      'save',
      () => ben.post(`${base}/tools`, { tool: 'rm', args: { path: '/a' } }),
    ],
    [
      'a folder',
      'files',
      'insertFolder',
      () => ben.post(`${base}/tools`, { tool: 'mkdir', args: { path: '/b' } }),
    ],
    [
      'a blob',
      'blobs',
      'put',
      () => ben.request('PUT', `${base}/blobs/${sha256('blob')}`, Buffer.from('blob')),
    ],
    ['a session', 'sessions', 'insert', () => ben.post(`${base}/sessions`, {})],
    ['a turn', 'turns', 'insert', () => post(ben, [createCall('a')], 0)],
  ];

  it.each(HELD)('of %s leaves it unwritten [MEMBER-2]', async (_, port, method, act) => {
    await write(ada, '/a');
    const slow = hold(storesOf(server.app)[port] as never, method);
    const answer = act();
    await slow.reached;
    await remove();
    const before = await written();
    slow.release();
    expect(await answer).toMatchObject(REFUSED);
    expect(await written()).toEqual(before);
  });

  it('of a client’s result leaves the call cancelled [MEMBER-2]', async () => {
    const client = await FakeClient.ready({ url: server.url, token: ben.token, workspaceId });
    await post(ben, [createCall('a')], 0);
    const call = await client.delivery();
    await waitFor(async () => (await steps()).includes('CreateFile.Acknowledged'), 'the acknowledgement');
    const slow = hold(storesOf(server.app).turns, 'save');
    client.report(call).catch(() => undefined);
    await slow.reached;
    await remove();
    slow.release();
    await waitFor(async () => (await steps()).includes('CreateFile.Cancelled'), 'the call cancelled');
    expect(await steps()).not.toContain('CreateFile.ResultReceived');
    client.close();
  });
});
