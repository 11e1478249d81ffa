import { storesOf } from '../contract/backends.js';
import { suiteFixture, testFixture } from '../support/fixtures.js';
import { hold } from '../support/hold.js';
import { createCall, RelayFixture } from '../support/relay-fixture.js';
import { startTestServer } from '../support/server.js';
import { readTrail } from '../support/invariants.js';

describe('a cancel', () => {
  const server = suiteFixture(() => startTestServer());
  const user = suiteFixture(() => server.register());
  const fixture = testFixture(() => RelayFixture.on(server, user));

  const cancelled = { status: 'cancelled', result: null, error: { code: 'CANCELLED' }, executionMs: null };

  it('ends a call that no client has taken, and the other calls go on [TURN-7]', async () => {
    const { turnId } = (await fixture.post([createCall('a'), createCall('b')])).body.result;
    const { status, body } = await fixture.cancel(turnId, 'a');
    expect(status).toBe(200);
    expect(body.result).toMatchObject({
      kind: 'client_tool_continuation',
      status: 'open',
      toolCalls: [{ toolCallId: 'b', status: 'pending' }],
      toolResults: [{ toolCallId: 'a', ...cancelled }],
    });
    const client = await fixture.client();
    expect((await client.delivery()).toolCallId).toBe('b');
    await client.report(client.calls[0]!);
    expect((await fixture.get(turnId)).body.result).toMatchObject({ kind: 'final', status: 'completed' });
    expect(client.calls).toHaveLength(1);
  });

  it('ends the whole turn [TURN-7]', async () => {
    const { turnId } = (await fixture.post([createCall('a'), createCall('b')])).body.result;
    expect(await fixture.cancel(turnId)).toMatchObject({
      status: 200,
      body: {
        result: { kind: 'final', status: 'cancelled', toolCalls: [], toolResults: [cancelled, cancelled] },
      },
    });
    const client = await fixture.client();
    await fixture.post([createCall('c')]);
    expect((await client.delivery()).toolCallId).toBe('c');
  });

  it('keeps a server call that is about to write from writing [TURN-7]', async () => {
    const slow = hold(storesOf(server.app).usage, 'ofUser');
    const write = { toolCallId: 'w', name: 'write', arguments: { path: '/late', content: 'late' } };
    const posted = fixture.post([write], { turnId: 'late', waitMs: 20_000 });
    await slow.reached;
    await fixture.cancel('late', 'w');
    slow.release();
    await posted;
    // A write of the same path comes after the other one.
    const next = { ...write, arguments: { path: '/late', content: 'next' } };
    await fixture.post([next], { waitMs: 20_000 });
    const writes = await readTrail(user, fixture.workspaceId, '&path=/late');
    expect(writes.filter(({ name }) => name.startsWith('File.'))).toHaveLength(1);
  });

  it('keeps a server call that is about to remove a folder from removing it [TURN-7]', async () => {
    const rm = { toolCallId: 'r', name: 'rm', arguments: { path: '/kept' } };
    await fixture.post([{ toolCallId: 'm', name: 'mkdir', arguments: { path: '/kept' } }], {
      waitMs: 20_000,
    });
    const slow = hold(storesOf(server.app).files, 'childrenOf');
    const posted = fixture.post([rm], { turnId: 'late', waitMs: 20_000 });
    await slow.reached;
    await fixture.cancel('late', 'r');
    slow.release();
    await posted;
    // Another removal of the same folder comes after it.
    const [again] = (await fixture.post([rm], { waitMs: 20_000 })).body.result.toolResults;
    expect(again).toMatchObject({ status: 'succeeded' });
  });

  it.each(['acknowledged', 'awaiting_approval', 'running'] as const)(
    'of a call that is %s tells its client to stop, and what it still reports is late [TURN-7] [RELAY-8]',
    async (status) => {
      const client = await fixture.client();
      const { turnId } = (await fixture.post([createCall('a')])).body.result;
      const call = await client.delivery();
      if (status !== 'acknowledged') await client.status(call, status);
      await fixture.untilCall(turnId, 'a', status);
      await fixture.cancel(turnId, 'a');
      expect(client.cancels).toEqual([{ callId: call.callId, reason: 'cancelled' }]);
      for (const answer of [await client.status(call, 'running'), await client.report(call)]) {
        expect(answer).toMatchObject({ ok: false, error: { code: 'LATE_RESULT' } });
      }
      expect((await fixture.calls(turnId)).a).toMatchObject(cancelled);
      expect((await fixture.steps('a')).slice(-2)).toEqual(['Cancelled', 'LateResult']);
    },
  );

  it('tells the client of an unacknowledged call to stop', async () => {
    const client = await fixture.client();
    client.answer = null;
    const { turnId } = (await fixture.post([createCall('a')])).body.result;
    const call = await client.delivery();
    expect((await fixture.calls(turnId)).a).toMatchObject({
      status: 'forwarded',
      clientId: 'editor-1',
      attempt: 1,
    });
    await fixture.cancel(turnId);
    expect(client.cancels).toEqual([{ callId: call.callId, reason: 'cancelled' }]);
  });

  it('frees the slot of the call in the client’s window', async () => {
    const client = await fixture.client({ maxInFlight: 1 });
    const { turnId } = (await fixture.post([createCall('a'), createCall('b')])).body.result;
    await client.delivery();
    await fixture.cancel(turnId, 'a');
    expect((await client.delivery(2)).toolCallId).toBe('b');
  });

  it('leaves an ended call unchanged and answers with it [TURN-7]', async () => {
    const client = await fixture.client();
    const { turnId } = (await fixture.post([createCall('a')])).body.result;
    await client.report(await client.delivery());
    const ended = (await fixture.get(turnId)).body;
    for (const answer of [await fixture.cancel(turnId), await fixture.cancel(turnId, 'a')]) {
      expect(answer).toMatchObject({ status: 200, body: ended });
    }
    expect(ended.result.status).toBe('completed');
    expect(client.cancels).toEqual([]);
    expect(await fixture.steps('a')).not.toContain('Cancelled');
  });

  it('has no further effect when repeated', async () => {
    const { turnId } = (await fixture.post([createCall('a')])).body.result;
    const answers = await Promise.all([
      fixture.cancel(turnId),
      fixture.cancel(turnId),
      fixture.cancel(turnId, 'a'),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await fixture.steps('a')).toEqual(['Accepted', 'Cancelled']);
  });

  it('is recorded under the user who asked for it', async () => {
    const { turnId } = (await fixture.post([createCall('a')])).body.result;
    await fixture.cancel(turnId);
    const [event] = await readTrail(user, fixture.workspaceId, '&event=Tool.CreateFile.Cancelled');
    expect(event).toMatchObject({
      actor: { userId: user.id, clientId: null },
      attempt: null,
      fields: { toolName: 'workspace_create_file', path: 'a.txt', errorCode: 'CANCELLED' },
    });
  });
});
