import { jest } from '@jest/globals';
import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import type { InvokeResult, Member, OpenTurnPage, TurnResult } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { NO_MEMBER } from '../../src/turns/engine/removed-members.js';
import { newId } from '../../src/common/ids.js';
import { storesOf } from '../contract/backends.js';
import { suiteFixture, testFixture } from '../support/fixtures.js';
import { hold } from '../support/hold.js';
import { readTrail } from '../support/invariants.js';
import { MembershipFixture, NOT_A_MEMBER } from '../support/membership-fixture.js';
import { createCall } from '../support/relay-fixture.js';
import { startTestServer } from '../support/server.js';
import { TestUser } from '../support/test-user.js';
import { waitFor } from '../support/wait-for.js';

type TurnAnswer = InvokeResult<TurnResult>;

describe('a membership that ends', () => {
  const server = suiteFixture(() => startTestServer());
  const setup = testFixture(() => MembershipFixture.on(server));
  const ada = testFixture(() => setup.ada);
  const ben = testFixture(() => setup.ben);

  const call = (name: string, args: object) => ({ toolCallId: name, name, arguments: args });

  it('stops a turn during a grep: nothing more is read or written, and the waiting request is rejected [MEMBER-2]', async () => {
    for (const path of ['/a', '/b']) await setup.write(ada, path);
    const slow = hold(storesOf(server.app).blobs, 'read');
    const grep = { pattern: 'needle' };
    const posted = setup.post(ben, [
      call('grep', grep),
      call('read', { path: '/a' }),
      call('write', { path: '/mine', content: 'x' }),
    ]);
    await slow.reached;
    await setup.remove();
    await waitFor(
      async () => (await setup.steps('&turnId=t')).includes('Write.Cancelled'),
      'the turn cancelled',
    );
    slow.release();
    const read = jest.spyOn(storesOf(server.app).blobs, 'read');
    expect(await posted).toMatchObject(NOT_A_MEMBER);
    await setup.post(ada, [], 0);
    expect(read).not.toHaveBeenCalled();
    read.mockRestore();
    await setup.write(ada, '/after');
    const trail = await readTrail(ada, setup.workspaceId, '&turnId=t');
    const ends = trail.filter(({ name }) => /Cancelled|ResultReceived|File/.test(name));
    expect(ends.map(({ name, actor }) => [name, actor.userId])).toEqual(
      ['Tool.Grep', 'Tool.Read', 'Tool.Write', 'Turn'].map((whose) => [`${whose}.Cancelled`, ada.id]),
    );
    expect((await ada.get<string>(`${setup.base}/contents/mine`)).status).toBe(404);
  });

  it('stops a write that is in progress [MEMBER-2]', async () => {
    await setup.write(ada, '/a');
    const slow = hold(storesOf(server.app).blobs, 'read');
    const edit = { path: '/a', oldString: 'needle', newString: 'thread' };
    const answers = [
      setup.post(ben, [call('edit', edit)]),
      ben.post(`${setup.base}/tools`, { tool: 'edit', args: edit }),
    ];
    await slow.reached;
    await setup.remove();
    slow.release();
    for (const answer of await Promise.all(answers)) expect(answer).toMatchObject(NOT_A_MEMBER);
    expect((await ada.get(`${setup.base}/contents/a`)).body).toBe('needle');
    expect((await setup.steps()).filter((name) => name === 'File.Updated')).toEqual([]);
  });

  /** Status of a request of ben's who is removed once the guard has let it pass, while its body is still coming. */
  async function statusOfLate(method: string, path: string, body: string): Promise<number | undefined> {
    const looked = jest.spyOn(storesOf(server.app).workspaces, 'roleOf');
    const request = httpRequest(`${server.url}/api/v1${setup.base}${path}`, {
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
    await setup.remove();
    request.end(body.slice(2));
    return (await answered)[0].resume().statusCode;
  }

  it.each([
    ['a file', 'PUT', '/contents/late.txt'],
    ['a blob', 'PUT', `/blobs/${sha256('{  }')}`],
    ['a turn', 'POST', '/sessions/00000000-0000-7000-8000-000000000000/turns'],
    ['a session', 'POST', '/sessions'],
  ])('rejects %s whose body is still being received [MEMBER-2]', async (_, method, path) => {
    const used = await storesOf(server.app).usage.ofWorkspace(setup.workspaceId);
    expect(await statusOfLate(method, path, '{  }')).toBe(403);
    expect(await storesOf(server.app).usage.ofWorkspace(setup.workspaceId)).toEqual(used);
  });

  it('executes nothing of a request whose body is still being received [MEMBER-2]', async () => {
    const folder = { name: 'proj', rootId: newId() };
    expect(await statusOfLate('PUT', '/roots/proj', JSON.stringify(folder))).toBe(403);
    expect((await ada.get(`${setup.base}/roots`)).body).toEqual({ roots: [] });
  });

  it('rejects a waiting poll for a turn and cancels the calls of the member’s client [MEMBER-2]', async () => {
    const client = await setup.client();
    await setup.post(ben, [createCall('a')], 0);
    const delivered = await client.delivery();
    const waiting = ben.get<TurnAnswer>(`${setup.turns}/t?waitMs=20000`);
    await setup.remove();
    expect(await waiting).toMatchObject(NOT_A_MEMBER);
    await waitFor(async () => (await setup.steps()).includes('CreateFile.Cancelled'), 'the call cancelled');
    expect(delivered.toolCallId).toBe('a');
    client.close();
  });

  it('is read once for a turn that is posted, run by a client and answered', async () => {
    const client = await setup.client();
    const asked = jest.spyOn(storesOf(server.app).workspaces, 'roleOf');
    const posted = setup.post(ben, [createCall('a')]);
    await client.report(await client.delivery());
    expect((await posted).status).toBe(200);
    expect(asked.mock.calls.filter(([, userId]) => userId === ben.id)).toHaveLength(1);
    asked.mockRestore();
    client.close();
  });

  it('leaves the sessions to a member who is added again, with cancelled turns [MEMBER-2]', async () => {
    await setup.post(ben, [createCall('a')], 0);
    await setup.remove();
    await waitFor(async () => (await setup.steps()).includes('CreateFile.Cancelled'), 'the call cancelled');
    await ada.addMember(setup.workspaceId, ben);
    const { result } = (await ben.get<TurnAnswer>(`${setup.turns}/t`)).body;
    expect(result).toMatchObject({ status: 'cancelled', toolResults: [{ error: { code: 'CANCELLED' } }] });
    expect(result.toolResults[0]!.error!.message).toContain('no longer a member of the workspace');
    expect(
      (await ben.post<TurnAnswer>(setup.turns, { toolCalls: [createCall('b')], waitMs: 0 })).status,
    ).toBe(202);
  });

  it('is completed at the next start when the server stopped before [MEMBER-2]', async () => {
    const first = await startTestServer();
    const unfinished = await MembershipFixture.on(first);
    await unfinished.post(unfinished.ben, [createCall('a')], 0);
    const slow = hold(storesOf(first.app).workspaces, 'unsettled');
    await unfinished.remove();
    await slow.reached;
    // What is held never comes.
    await first.app.close();
    const next = await startTestServer({ config: { dataDir: first.dataDir } });
    const owner = new TestUser(next, unfinished.ada.credentials);
    const trail = await readTrail(owner, unfinished.workspaceId);
    const actor = { userId: owner.id };
    expect(trail.filter(({ name }) => name.endsWith('Cancelled'))).toMatchObject([
      { name: 'Tool.CreateFile.Cancelled', actor },
      { name: 'Turn.Cancelled', actor, fields: { why: NO_MEMBER } },
    ]);
    await next.close();
  });

  it('lets members leave, except the last owner [MEMBER-3]', async () => {
    await setup.post(ben, [createCall('a')], 0);
    expect((await ben.request('DELETE', `${setup.base}/members/${ada.id}`)).status).toBe(403);
    expect((await ben.request('DELETE', `${setup.base}/members/${ben.id}`)).status).toBe(204);
    expect(await ben.get(setup.base)).toMatchObject(NOT_A_MEMBER);
    await waitFor(async () => (await setup.steps()).includes('CreateFile.Cancelled'), 'the call cancelled');
    expect((await ada.request('DELETE', `${setup.base}/members/${ada.id}`)).status).toBe(409);
  });

  it('ends the rights of an owner in a request that is in progress [MEMBER-2]', async () => {
    await ada.request('PUT', `${setup.base}/members/${ben.id}`, { role: 'owner' });
    const slow = hold(storesOf(server.app).workspaces, 'byId');
    const listed = ben.get<{ members: Member[] }>(`${setup.base}/members`);
    await slow.reached;
    const workspaces = storesOf(server.app).workspaces;
    Reflect.deleteProperty(workspaces, 'byId');
    await ada.request('PUT', `${setup.base}/members/${ben.id}`, { role: 'member' });
    slow.release();
    expect(await listed).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
  });

  it('ends the rights of an owner in a change of members that is in progress [MEMBER-2]', async () => {
    await ada.request('PUT', `${setup.base}/members/${ben.id}`, { role: 'owner' });
    const carol = await server.register();
    const slow = hold(storesOf(server.app).users, 'byEmail');
    const adding = ben.post(`${setup.base}/members`, { email: carol.email, role: 'member' });
    await slow.reached;
    await setup.remove();
    slow.release();
    expect(await adding).toMatchObject(NOT_A_MEMBER);
    expect((await carol.get(setup.base)).status).toBe(403);
  });
});

describe('an owner', () => {
  const server = suiteFixture(() => startTestServer());
  const setup = suiteFixture(() => MembershipFixture.on(server));
  const ada = suiteFixture(() => setup.ada);
  const ben = suiteFixture(() => setup.ben);

  it('lists and cancels every open turn; a member does neither [MEMBER-4]', async () => {
    for (const turnId of ['t1', 't2']) {
      await ben.post(setup.turns, { turnId, toolCalls: [createCall('a'), createCall('b')], waitMs: 0 });
    }
    expect((await ben.get(`${setup.base}/turns`)).status).toBe(403);
    expect((await ben.get(`${setup.base}/turns?userId=${ada.id}`)).status).toBe(403);
    const own = await ben.get<OpenTurnPage>(`${setup.base}/turns?userId=${ben.id.toUpperCase()}`);
    expect(own.body.turns).toMatchObject([{ turnId: 't1' }, { turnId: 't2' }]);
    const first = await ada.get<OpenTurnPage>(`${setup.base}/turns?limit=1&userId=${ben.id}`);
    expect(first.body.turns).toMatchObject([{ turnId: 't1', userId: ben.id }]);
    const second = await ada.get<OpenTurnPage>(`${setup.base}/turns?cursor=${first.body.nextCursor}`);
    expect(second.body).toMatchObject({ turns: [{ turnId: 't2' }], nextCursor: null });
    expect((await ada.get<OpenTurnPage>(`${setup.base}/turns?userId=${ada.id}`)).body.turns).toEqual([]);
    expect((await ada.get(`${setup.base}/turns?cursor=x`)).status).toBe(400);
    expect((await ada.get(`${setup.turns}/t1`)).status).toBe(403);
    const carol = await server.register();
    await ada.addMember(setup.workspaceId, carol);
    expect((await carol.post(`${setup.turns}/t1/cancel`)).status).toBe(403);
    const one = await ada.post<TurnAnswer>(`${setup.turns}/t1/tool-calls/a/cancel`);
    expect(one.body.result).toMatchObject({ toolCalls: [{ toolCallId: 'b', arguments: { path: 'b.txt' } }] });
    expect((await ada.post<TurnAnswer>(`${setup.turns}/t1/cancel`)).body.result.status).toBe('cancelled');
    expect((await ada.get<OpenTurnPage>(`${setup.base}/turns`)).body.turns).toMatchObject([{ turnId: 't2' }]);
    const trail = await readTrail(ada, setup.workspaceId, '&turnId=t1');
    const cancelled = trail.filter(({ name }) => name.endsWith('Cancelled'));
    expect(cancelled.map(({ actor }) => actor.userId)).toEqual([ada.id, ada.id, ada.id]);
  });
});
