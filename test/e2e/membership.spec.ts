import { jest } from '@jest/globals';
import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import type { InvokeResult, Member, OpenTurnPage, Session, TurnResult } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { NO_MEMBER } from '../../src/turns/engine/removed-members.js';
import { newId } from '../../src/common/ids.js';
import { storesOf } from '../contract/backends.js';
import { hold } from '../support/hold.js';
import { readTrail } from '../support/invariants.js';
import { createCall } from '../support/relay-fixture.js';
import { startTestServer, type TestServer } from '../support/server.js';
import { TestUser } from '../support/test-user.js';
import { FakeClient } from '../support/fake-client.js';
import { waitFor } from '../support/wait-for.js';

const REFUSED = {
  status: 403,
  body: { error: 'Access forbidden: User is not a member of this workspace', code: 'FORBIDDEN' },
};
type TurnAnswer = InvokeResult<TurnResult>;

describe('a membership that ends', () => {
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
  const call = (name: string, args: object) => ({ toolCallId: name, name, arguments: args });
  const write = (user: TestUser, path: string) =>
    user.post(`${base}/tools`, { tool: 'write', args: { path, content: { text: 'needle' } } });
  const steps = async (query = '') =>
    (await readTrail(ada, workspaceId, query)).map(({ name }) => name.replace('Tool.', ''));

  it('stops a turn in the middle of a grep: nothing more is read or written, and who waits is refused [MEMBER-2]', async () => {
    for (const path of ['/a', '/b']) await write(ada, path);
    const slow = hold(storesOf(server.app).blobs, 'read');
    const grep = { pattern: 'needle' };
    const posted = post(ben, [
      call('grep', grep),
      call('read', { path: '/a' }),
      call('write', { path: '/mine', content: 'x' }),
    ]);
    await slow.reached;
    await remove();
    await waitFor(async () => (await steps('&turnId=t')).includes('Write.Cancelled'), 'the turn cancelled');
    slow.release();
    const read = jest.spyOn(storesOf(server.app).blobs, 'read');
    expect(await posted).toMatchObject(REFUSED);
    await post(ada, [], 0);
    expect(read).not.toHaveBeenCalled();
    read.mockRestore();
    await write(ada, '/after');
    const trail = await readTrail(ada, workspaceId, '&turnId=t');
    const ends = trail.filter(({ name }) => /Cancelled|ResultReceived|File/.test(name));
    expect(ends.map(({ name, actor }) => [name, actor.userId])).toEqual(
      ['Tool.Grep', 'Tool.Read', 'Tool.Write', 'Turn'].map((whose) => [`${whose}.Cancelled`, ada.id]),
    );
    expect((await ada.get<string>(`${base}/contents/mine`)).status).toBe(404);
  });

  it('lets a write that is under way do nothing [MEMBER-2]', async () => {
    await write(ada, '/a');
    const slow = hold(storesOf(server.app).blobs, 'read');
    const edit = { path: '/a', oldString: 'needle', newString: 'thread' };
    const answers = [
      post(ben, [call('edit', edit)]),
      ben.post(`${base}/tools`, { tool: 'edit', args: edit }),
    ];
    await slow.reached;
    await remove();
    slow.release();
    for (const answer of await Promise.all(answers)) expect(answer).toMatchObject(REFUSED);
    expect((await ada.get(`${base}/contents/a`)).body).toBe('needle');
    expect((await steps()).filter((name) => name === 'File.Updated')).toEqual([]);
  });

  /** Status of a request of ben's who is removed once the guard has let it pass, while its body is still coming. */
  async function statusOfLate(method: string, path: string, body: string): Promise<number | undefined> {
    const looked = jest.spyOn(storesOf(server.app).workspaces, 'roleOf');
    const request = httpRequest(`${server.url}/api/v1${base}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${ben.token}`,
        'content-length': body.length,
        'content-type': 'application/json',
      },
    });
    const answered = once(request, 'response') as Promise<[IncomingMessage]>;
    request.write(body.slice(0, 2));
    await waitFor(() => looked.mock.calls.length > 0, 'the look of the guard');
    looked.mockRestore();
    await remove();
    request.end(body.slice(2));
    return (await answered)[0].resume().statusCode;
  }

  it.each([
    ['a file', 'PUT', '/contents/late.txt'],
    ['a blob', 'PUT', `/blobs/${sha256('{  }')}`],
    ['a turn', 'POST', '/sessions/00000000-0000-7000-8000-000000000000/turns'],
    ['a session', 'POST', '/sessions'],
  ])('refuses %s whose body is still coming [MEMBER-2]', async (_, method, path) => {
    const used = await storesOf(server.app).usage.ofWorkspace(workspaceId);
    expect(await statusOfLate(method, path, '{  }')).toBe(403);
    expect(await storesOf(server.app).usage.ofWorkspace(workspaceId)).toEqual(used);
  });

  it('does nothing of what is asked by a body that is still coming [MEMBER-2]', async () => {
    const folder = { name: 'proj', rootId: newId() };
    expect(await statusOfLate('PUT', '/roots/proj', JSON.stringify(folder))).toBe(403);
    expect((await ada.get(`${base}/roots`)).body).toEqual({ roots: [] });
  });

  it('refuses who asks again and again for a turn, and takes their client’s calls back [MEMBER-2]', async () => {
    const client = await FakeClient.ready({ url: server.url, token: ben.token, workspaceId });
    await post(ben, [createCall('a')], 0);
    const delivered = await client.delivery();
    const waiting = ben.get<TurnAnswer>(`${turns}/t?waitMs=20000`);
    await remove();
    expect(await waiting).toMatchObject(REFUSED);
    await waitFor(async () => (await steps()).includes('CreateFile.Cancelled'), 'the call cancelled');
    expect(delivered.toolCallId).toBe('a');
    client.close();
  });

  it('is asked for once by a turn that is posted, run by a client and answered', async () => {
    const client = await FakeClient.ready({ url: server.url, token: ben.token, workspaceId });
    const asked = jest.spyOn(storesOf(server.app).workspaces, 'roleOf');
    const posted = post(ben, [createCall('a')]);
    await client.report(await client.delivery());
    expect((await posted).status).toBe(200);
    expect(asked.mock.calls.filter(([, userId]) => userId === ben.id)).toHaveLength(1);
    asked.mockRestore();
    client.close();
  });

  it('leaves sessions to who is added again, and their turns cancelled [MEMBER-2]', async () => {
    await post(ben, [createCall('a')], 0);
    await remove();
    await waitFor(async () => (await steps()).includes('CreateFile.Cancelled'), 'the call cancelled');
    await ada.addMember(workspaceId, ben);
    const { result } = (await ben.get<TurnAnswer>(`${turns}/t`)).body;
    expect(result).toMatchObject({ status: 'cancelled', toolResults: [{ error: { code: 'CANCELLED' } }] });
    expect(result.toolResults[0]!.error!.message).toContain('no longer a member of the workspace');
    expect((await ben.post<TurnAnswer>(turns, { toolCalls: [createCall('b')], waitMs: 0 })).status).toBe(202);
  });

  it('is finished at the next start where the server ended in between [MEMBER-2]', async () => {
    await post(ben, [createCall('a')], 0);
    const { dataDir } = server;
    const workspaces = storesOf(server.app).workspaces;
    const slow = hold(workspaces, 'unsettled');
    await remove();
    await slow.reached;
    // What is held never comes.
    await server.app.close();
    const next = await startTestServer({ config: { dataDir } });
    const owner = new TestUser(next, ada.credentials);
    const cancelled = (await readTrail(owner, workspaceId)).filter(({ name }) => name.endsWith('Cancelled'));
    expect(cancelled).toMatchObject([
      { name: 'Tool.CreateFile.Cancelled', actor: { userId: ada.id } },
      { name: 'Turn.Cancelled', actor: { userId: ada.id }, fields: { why: NO_MEMBER } },
    ]);
    await next.close();
    server = await startTestServer({ config: { dataDir } });
    [ada, ben] = [new TestUser(server, ada.credentials), new TestUser(server, ben.credentials)];
  });

  it('ends at one’s own wish, but for the last owner’s [MEMBER-3]', async () => {
    await post(ben, [createCall('a')], 0);
    expect((await ben.request('DELETE', `${base}/members/${ada.id}`)).status).toBe(403);
    expect((await ben.request('DELETE', `${base}/members/${ben.id}`)).status).toBe(204);
    expect(await ben.get(base)).toMatchObject(REFUSED);
    await waitFor(async () => (await steps()).includes('CreateFile.Cancelled'), 'the call cancelled');
    expect((await ada.request('DELETE', `${base}/members/${ada.id}`)).status).toBe(409);
  });

  it('ends an owner’s rights for a request that is under way [MEMBER-2]', async () => {
    await ada.request('PUT', `${base}/members/${ben.id}`, { role: 'owner' });
    const slow = hold(storesOf(server.app).workspaces, 'byId');
    const listed = ben.get<{ members: Member[] }>(`${base}/members`);
    await slow.reached;
    const workspaces = storesOf(server.app).workspaces;
    Reflect.deleteProperty(workspaces, 'byId');
    await ada.request('PUT', `${base}/members/${ben.id}`, { role: 'member' });
    slow.release();
    expect(await listed).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
  });

  it('ends them for a change of the members that is under way [MEMBER-2]', async () => {
    await ada.request('PUT', `${base}/members/${ben.id}`, { role: 'owner' });
    const carol = await server.register();
    const slow = hold(storesOf(server.app).users, 'byEmail');
    const adding = ben.post(`${base}/members`, { email: carol.email, role: 'member' });
    await slow.reached;
    await remove();
    slow.release();
    expect(await adding).toMatchObject(REFUSED);
    expect((await carol.get(base)).status).toBe(403);
  });
});

describe('an owner', () => {
  let server: TestServer;
  let [ada, ben]: TestUser[] = [];
  let base: string;
  let turns: string;

  beforeAll(async () => {
    server = await startTestServer();
    [ada, ben] = await Promise.all([server.register(), server.register()]);
    const { id } = await ada.createWorkspace();
    base = `/workspaces/${id}`;
    await ada.addMember(id, ben);
    const { body } = await ben.post<Session>(`${base}/sessions`, {});
    turns = `${base}/sessions/${body.sessionId}/turns`;
  });
  afterAll(() => server.close());

  it('finds every open turn and cancels it; a member does not [MEMBER-4]', async () => {
    for (const turnId of ['t1', 't2']) {
      await ben!.post(turns, { turnId, toolCalls: [createCall('a'), createCall('b')], waitMs: 0 });
    }
    expect((await ben!.get(`${base}/turns`)).status).toBe(403);
    expect((await ben!.get(`${base}/turns?userId=${ada!.id}`)).status).toBe(403);
    const own = await ben!.get<OpenTurnPage>(`${base}/turns?userId=${ben!.id.toUpperCase()}`);
    expect(own.body.turns).toMatchObject([{ turnId: 't1' }, { turnId: 't2' }]);
    const first = await ada!.get<OpenTurnPage>(`${base}/turns?limit=1&userId=${ben!.id}`);
    expect(first.body.turns).toMatchObject([{ turnId: 't1', userId: ben!.id }]);
    const second = await ada!.get<OpenTurnPage>(`${base}/turns?cursor=${first.body.nextCursor}`);
    expect(second.body).toMatchObject({ turns: [{ turnId: 't2' }], nextCursor: null });
    expect((await ada!.get<OpenTurnPage>(`${base}/turns?userId=${ada!.id}`)).body.turns).toEqual([]);
    expect((await ada!.get(`${base}/turns?cursor=x`)).status).toBe(400);
    expect((await ada!.get(`${turns}/t1`)).status).toBe(403);
    const carol = await server.register();
    await ada!.addMember(base.split('/')[2]!, carol);
    expect((await carol.post(`${turns}/t1/cancel`)).status).toBe(403);
    const one = await ada!.post<TurnAnswer>(`${turns}/t1/tool-calls/a/cancel`);
    expect(one.body.result).toMatchObject({ toolCalls: [{ toolCallId: 'b', arguments: { path: 'b.txt' } }] });
    expect((await ada!.post<TurnAnswer>(`${turns}/t1/cancel`)).body.result.status).toBe('cancelled');
    expect((await ada!.get<OpenTurnPage>(`${base}/turns`)).body.turns).toMatchObject([{ turnId: 't2' }]);
    const trail = await readTrail(ada!, base.split('/')[2]!, '&turnId=t1');
    const cancelled = trail.filter(({ name }) => name.endsWith('Cancelled'));
    expect(cancelled.map(({ actor }) => actor.userId)).toEqual([ada!.id, ada!.id, ada!.id]);
  });
});
