import type { Workspace } from '@patchbay/protocol';
import type { FakeClient } from '../support/fake-client.js';
import { suiteFixture, testFixture } from '../support/fixtures.js';
import { readCallTrail, readTrail } from '../support/invariants.js';
import type { RelayFixture } from '../support/relay-fixture.js';
import { refused } from '../support/result-fixture.js';
import { startTestServer } from '../support/server.js';
import {
  ask,
  asker,
  askingFixture,
  call,
  decided,
  deliveredAs,
  read,
  standing,
  write,
} from '../support/approval-fixture.js';

describe('a workspace that asks for approval', () => {
  const server = suiteFixture(() => startTestServer({ config: { maxWaitMs: 2_000 } }));
  const fixture = testFixture(() => askingFixture(server));

  const post = async (...calls: unknown[]): Promise<string> => (await fixture.post(calls)).body.result.turnId;
  const cloud = async (path: string) => {
    const { body } = await fixture.user.post<{ result: { content?: { text: string } } }>(
      `/workspaces/${fixture.workspaceId}/tools`,
      { tool: 'read', args: { path } },
    );
    return body.result?.content?.text ?? null;
  };
  const until = (turnId: string, id: string, status: Parameters<RelayFixture['untilCall']>[2]) =>
    fixture.untilCall(turnId, id, status);
  /** A client that holds the call `w`, a write of /a.txt. */
  const given = async (): Promise<{ client: FakeClient; turnId: string }> => {
    const client = await asker(fixture);
    const turnId = await post(write('w', '/a.txt', 'new'));
    await client.delivery();
    await until(turnId, 'w', 'acknowledged');
    return { client, turnId };
  };

  it('lets an owner choose the tools, and shows them to members [APPROVAL-1]', async () => {
    const path = `/workspaces/${fixture.workspaceId}`;
    const put = (body: object) => fixture.user.request<Workspace>('PUT', path, body);
    expect((await put({ approvals: ['rm', 'mv'] })).body).toMatchObject({
      approvals: ['rm', 'mv'],
      role: 'owner',
    });
    expect((await put({ name: 'Renamed' })).body).toMatchObject({ name: 'Renamed', approvals: ['rm', 'mv'] });
    for (const approvals of [['read'], ['rm', 'rm'], 'rm', ['workspace_create_file']]) {
      expect((await put({ approvals })).status).toBe(400);
    }
    const member = await server.register();
    await fixture.user.post(`${path}/members`, { email: member.email, role: 'member' });
    expect((await member.get<Workspace>(path)).body.approvals).toEqual(['rm', 'mv']);
    expect((await member.request('PUT', path, { approvals: [] })).status).toBe(403);
    expect((await fixture.user.createWorkspace()).approvals).toEqual([]);
    expect((await put({ approvals: [] })).body.approvals).toEqual([]);
  });

  it('asks for the chosen tools only, and for calls accepted after the choice [APPROVAL-1]', async () => {
    await ask(fixture, ['rm']);
    const turnId = await post(write('w', '/a.txt'), read('r', '/a.txt'), call('d', 'rm', { path: '/a.txt' }));
    await until(turnId, 'r', 'succeeded');
    await ask(fixture, []);
    expect(await standing(fixture, turnId)).toEqual(['d pending', 'r succeeded', 'w succeeded']);
    const put = await fixture.user.request('PUT', `/workspaces/${fixture.workspaceId}/contents/b.txt`, 'x');
    expect(put.status).toBe(201);
  });

  it('asks a person through the session’s client, and runs an allowed call on the server [APPROVAL-2]', async () => {
    const { client, turnId } = await given();
    const [delivered] = client.calls;
    expect(delivered).toMatchObject({ name: 'write', approvalOnly: true, arguments: { path: '/a.txt' } });
    expect((await fixture.calls(turnId)).w).toMatchObject({
      executionLocation: 'server',
      clientId: 'editor-1',
    });
    await client.status(delivered!, 'awaiting_approval');
    await until(turnId, 'w', 'awaiting_approval');
    expect(await cloud('/a.txt')).toBeNull();
    expect(await client.report(delivered!, decided('allow', { note: 'fine' }))).toEqual({ ok: true });
    expect((await fixture.get(turnId, 2_000)).body.result).toMatchObject({
      kind: 'final',
      toolResults: [{ status: 'succeeded', error: null, result: { path: '/a.txt' } }],
    });
    expect(await cloud('/a.txt')).toBe('new');
    const steps = (await fixture.steps('w')).filter((step) => step !== undefined);
    expect(steps).toEqual([
      'Accepted',
      'Forwarded',
      'Acknowledged',
      'AwaitingApproval',
      'Approved',
      'Executing',
      'ResultReceived',
    ]);
  });

  it('records the decision and the end of the call in the trail [APPROVAL-4]', async () => {
    const { client, turnId } = await given();
    await client.report(client.calls[0]!, decided('allow_always', { note: 'all of them' }));
    await until(turnId, 'w', 'succeeded');
    const fields = { approval: { decision: 'allow_always', by: 'ada', note: 'all of them' } };
    for (const step of ['Approved', 'ResultReceived']) {
      const [event] = await readTrail(fixture.user, fixture.workspaceId, `&event=Tool.Write.${step}`);
      expect(event!.fields).toMatchObject({ path: 'a.txt', ...fields });
    }
  });

  it('runs a call with the arguments that a person has edited [APPROVAL-2]', async () => {
    const { client, turnId } = await given();
    const [delivered] = client.calls;
    const edit = (editedArguments: object) => client.report(delivered!, decided('edit', { editedArguments }));
    expect(await edit({ path: '/../b' })).toMatchObject(refused('VALIDATION_ERROR'));
    expect(await edit({ path: '/b.txt', content: { text: 'secret edit' } })).toEqual({ ok: true });
    await until(turnId, 'w', 'succeeded');
    expect([await cloud('/a.txt'), await cloud('/b.txt')]).toEqual([null, 'secret edit']);
    const trail = await readCallTrail(fixture.user, fixture.workspaceId, `&turnId=${turnId}`);
    expect(JSON.stringify(trail)).not.toContain('secret');
    expect(trail.at(-1)!.fields).toMatchObject({ path: 'b.txt', approval: { edited: { path: 'b.txt' } } });
  });

  it('changes nothing for a denied call [APPROVAL-2]', async () => {
    const { client, turnId } = await given();
    expect(await client.report(client.calls[0]!, decided('deny', { note: 'Not now.' }))).toEqual({
      ok: true,
    });
    expect((await fixture.calls(turnId)).w).toMatchObject({
      status: 'denied',
      error: { message: 'Not now.' },
    });
    expect(await cloud('/a.txt')).toBeNull();
  });

  it('accepts a decision only from the client that was asked, and nothing else as a decision [APPROVAL-2]', async () => {
    const { client, turnId } = await given();
    const [delivered] = client.calls;
    expect(await client.status(delivered!, 'running')).toMatchObject(refused('CONFLICT'));
    expect(await client.report(delivered!, { result: null })).toMatchObject(refused('VALIDATION_ERROR'));
    const ran = { ...decided('allow'), result: { path: '/a.txt' } };
    expect(await client.report(delivered!, ran)).toMatchObject(refused('VALIDATION_ERROR'));
    const other = await asker(fixture, { clientId: 'other' });
    expect(await other.report(delivered!, decided('allow'))).toMatchObject(refused('CONFLICT'));
    expect((await fixture.postResults(turnId, [{ toolCallId: 'w', ...decided('allow') }])).status).toBe(400);
    expect(await standing(fixture, turnId)).toEqual(['w acknowledged']);
  });

  it('accepts a repeated decision as a duplicate and rejects another one [APPROVAL-4]', async () => {
    const { client, turnId } = await given();
    const [delivered] = client.calls;
    const [first, second] = await Promise.all([
      client.report(delivered!, decided('allow')),
      client.report(delivered!, decided('allow', { at: '2025-06-01T12:00:01Z' })),
    ]);
    expect([first, second]).toEqual([{ ok: true }, { ok: true, duplicate: true }]);
    await until(turnId, 'w', 'succeeded');
    expect(await client.report(delivered!, decided('allow'))).toEqual({ ok: true, duplicate: true });
    expect(await client.report(delivered!, decided('deny'))).toMatchObject(refused('CONFLICT'));
    expect((await fixture.steps('w')).filter((step) => step === 'Executing')).toHaveLength(1);
  });

  it('offers the call to no client without support for approvals [APPROVAL-2]', async () => {
    const old = await fixture.client();
    const turnId = await post(write('w', '/a.txt'));
    const able = await asker(fixture, { clientId: 'able' });
    await able.delivery();
    expect([old.calls, able.calls.length]).toEqual([[], 1]);
    await able.report(able.calls[0]!, decided('allow'));
    await until(turnId, 'w', 'succeeded');
  });

  it('treats a direct call like a call of a client’s tool [APPROVAL-5]', async () => {
    const client = await asker(fixture);
    const path = `/workspaces/${fixture.workspaceId}/tools`;
    const write = { tool: 'write', args: { path: '/a.txt', content: { text: 'x' } } };
    expect((await fixture.user.post(path, { tool: 'write', args: {} })).status).toBe(400);
    expect((await fixture.user.post(path, write)).status).toBe(202);
    expect(await cloud('/a.txt')).toBeNull();
    const posted = fixture.user.post<{ success: boolean }>(path, write);
    const second = await client.delivery(2);
    await client.report(second, decided('allow'));
    expect([(await posted).status, (await posted).body.success]).toEqual([200, true]);
    await client.report(client.calls[0]!, decided('deny'));
  });
});

describe('the server calls of a turn', () => {
  const server = suiteFixture(() => startTestServer());
  const fixture = testFixture(() => askingFixture(server));
  let client: FakeClient;
  beforeEach(async () => {
    client = await asker(fixture);
  });

  const post = async (calls: unknown[], more: Record<string, unknown> = {}): Promise<string> => {
    const { turnId } = (await fixture.post(calls, more)).body.result;
    return turnId;
  };
  const decide = (id: string, decision: string) => client.report(deliveredAs(client, id), decided(decision));

  it('wait for a call that a person is asked about, and see its changes [APPROVAL-3]', async () => {
    const turnId = await post([read('r0', '/a'), write('w', '/a'), read('r1', '/a'), call('l', 'ls', {})]);
    await client.delivery();
    await fixture.untilCall(turnId, 'r0', 'failed');
    await fixture.untilCall(turnId, 'w', 'acknowledged');
    expect(await standing(fixture, turnId)).toEqual([
      'l accepted',
      'r0 failed',
      'r1 accepted',
      'w acknowledged',
    ]);
    await decide('w', 'allow');
    expect(await standing(fixture, turnId, 5_000)).toEqual([
      'l succeeded',
      'r0 failed',
      'r1 succeeded',
      'w succeeded',
    ]);
    expect(await fixture.steps('r1')).toEqual(['Accepted', 'Executing', 'ResultReceived']);
  });

  it('go on after a denial [APPROVAL-3]', async () => {
    const turnId = await post([write('w', '/a'), read('r', '/a')]);
    await client.delivery();
    await decide('w', 'deny');
    expect(await standing(fixture, turnId, 5_000)).toEqual(['r failed', 'w denied']);
  });

  it('go on after a cancel, and the client is told to stop [APPROVAL-3]', async () => {
    const turnId = await post([write('w', '/a'), call('l', 'ls', {})]);
    await client.delivery();
    await fixture.cancel(turnId, 'w');
    expect(await standing(fixture, turnId, 5_000)).toEqual(['l succeeded', 'w cancelled']);
    expect(await decide('w', 'allow')).toMatchObject(refused('LATE_RESULT'));
    expect(client.cancels).toEqual([{ callId: client.calls[0]!.callId, reason: 'cancelled' }]);
  });

  it('go on when no client takes the call or nobody decides in time [APPROVAL-4]', async () => {
    const slow = await post([write('w', '/a'), call('l', 'ls', {})], { timeouts: { approvalMs: 1_000 } });
    await client.delivery();
    expect(await standing(fixture, slow, 8_000)).toEqual(['l succeeded', 'w timed_out']);
    expect((await fixture.calls(slow)).w).toMatchObject({ error: { code: 'APPROVAL_TIMEOUT' } });
    client.close();
    await fixture.newSession('nobody');
    const lost = await post([write('w', '/a'), call('l', 'ls', {})], { timeouts: { deliveryMs: 1_000 } });
    expect(await standing(fixture, lost, 8_000)).toEqual(['l succeeded', 'w timed_out']);
    expect((await fixture.calls(lost)).w).toMatchObject({ error: { code: 'DELIVERY_TIMEOUT' } });
  });

  it('keep their order whichever is allowed first [APPROVAL-3]', async () => {
    const turnId = await post([write('1', '/a', 'first'), write('2', '/a', 'second'), read('r', '/a')]);
    await client.delivery(2);
    await decide('2', 'allow');
    expect((await fixture.calls(turnId))['2']!.status).toBe('accepted');
    await decide('1', 'allow');
    expect(await standing(fixture, turnId, 5_000)).toEqual(['1 succeeded', '2 succeeded', 'r succeeded']);
    expect((await fixture.calls(turnId)).r).toMatchObject({ result: { content: { text: 'second' } } });
  });

  it('end with a cancel of the turn, the waiting ones included [TURN-7]', async () => {
    const turnId = await post([write('1', '/a'), write('2', '/a'), read('r', '/a')]);
    await client.delivery(2);
    await decide('2', 'allow');
    await fixture.cancel(turnId);
    expect(await standing(fixture, turnId)).toEqual(['1 cancelled', '2 cancelled', 'r cancelled']);
    // What was decided about is on no client's hands any more.
    expect(client.cancels.map(({ callId }) => callId)).toEqual([deliveredAs(client, '1').callId]);
  });

  it('do not delay calls of clients [APPROVAL-3]', async () => {
    const editor = await fixture.client({ clientId: 'maker' });
    const create = call('c', 'workspace_create_file', { path: 'c.txt', content: '' });
    const turnId = await post([write('w', '/a'), create]);
    await editor.report(await editor.delivery());
    await fixture.untilCall(turnId, 'c', 'succeeded');
    expect((await fixture.calls(turnId)).w!.status).not.toBe('succeeded');
  });
});
