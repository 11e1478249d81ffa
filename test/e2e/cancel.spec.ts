import { storesOf } from '../contract/backends.js';
import { hold } from '../support/hold.js';
import { createCall, RelayScene } from '../support/relay-scene.js';
import { startTestServer, type TestServer, type TestUser } from '../support/server.js';
import { readTrail } from '../support/invariants.js';

describe('a cancel', () => {
  let server: TestServer;
  let user: TestUser;
  let scene: RelayScene;
  beforeAll(async () => {
    server = await startTestServer();
    user = await server.register();
  });
  beforeEach(async () => void (scene = await RelayScene.on(server, user)));
  afterEach(() => scene.close());
  afterAll(() => server.close());

  const cancelled = { status: 'cancelled', result: null, error: { code: 'CANCELLED' }, executionMs: null };

  it('ends a call that nobody has taken, and the others go on [TURN-7]', async () => {
    const { turnId } = (await scene.post([createCall('a'), createCall('b')])).body.result;
    const { status, body } = await scene.cancel(turnId, 'a');
    expect(status).toBe(200);
    expect(body.result).toMatchObject({
      kind: 'client_tool_continuation',
      status: 'open',
      toolCalls: [{ toolCallId: 'b', status: 'pending' }],
      toolResults: [{ toolCallId: 'a', ...cancelled }],
    });
    const client = await scene.client();
    expect((await client.delivery()).toolCallId).toBe('b');
    await client.report(client.calls[0]!);
    expect((await scene.get(turnId)).body.result).toMatchObject({ kind: 'final', status: 'completed' });
    expect(client.calls).toHaveLength(1);
  });

  it('ends the whole turn [TURN-7]', async () => {
    const { turnId } = (await scene.post([createCall('a'), createCall('b')])).body.result;
    expect(await scene.cancel(turnId)).toMatchObject({
      status: 200,
      body: {
        result: { kind: 'final', status: 'cancelled', toolCalls: [], toolResults: [cancelled, cancelled] },
      },
    });
    const client = await scene.client();
    await scene.post([createCall('c')]);
    expect((await client.delivery()).toolCallId).toBe('c');
  });

  it('of a call of the server that is about to write keeps it from writing [TURN-7]', async () => {
    const slow = hold(storesOf(server.app).usage, 'ofUser');
    const write = { toolCallId: 'w', name: 'write', arguments: { path: '/late', content: 'late' } };
    const posted = scene.post([write], { turnId: 'late', waitMs: 5_000 });
    await slow.reached;
    await scene.cancel('late', 'w');
    slow.release();
    await posted;
    // A write of the same path comes after the other one.
    const next = { ...write, arguments: { path: '/late', content: 'next' } };
    await scene.post([next], { waitMs: 5_000 });
    const writes = await readTrail(user, scene.workspaceId, '&path=/late');
    expect(writes.filter(({ name }) => name.startsWith('File.'))).toHaveLength(1);
  });

  it('of a call of the server that is about to remove a folder keeps it from that [TURN-7]', async () => {
    const rm = { toolCallId: 'r', name: 'rm', arguments: { path: '/kept' } };
    await scene.post([{ toolCallId: 'm', name: 'mkdir', arguments: { path: '/kept' } }], { waitMs: 5_000 });
    const slow = hold(storesOf(server.app).files, 'childrenOf');
    const posted = scene.post([rm], { turnId: 'late', waitMs: 5_000 });
    await slow.reached;
    await scene.cancel('late', 'r');
    slow.release();
    await posted;
    // Another removal of the same folder comes after it.
    const [again] = (await scene.post([rm], { waitMs: 5_000 })).body.result.toolResults;
    expect(again).toMatchObject({ status: 'succeeded' });
  });

  it.each(['acknowledged', 'awaiting_approval', 'running'] as const)(
    'of a call that is %s tells its client to stop, and what it still reports is late [TURN-7] [RELAY-8]',
    async (status) => {
      const client = await scene.client();
      const { turnId } = (await scene.post([createCall('a')])).body.result;
      const call = await client.delivery();
      if (status !== 'acknowledged') await client.status(call, status);
      await scene.untilCall(turnId, 'a', status);
      await scene.cancel(turnId, 'a');
      expect(client.cancels).toEqual([{ callId: call.callId, reason: 'cancelled' }]);
      for (const answer of [await client.status(call, 'running'), await client.report(call)]) {
        expect(answer).toMatchObject({ ok: false, error: { code: 'LATE_RESULT' } });
      }
      expect((await scene.calls(turnId)).a).toMatchObject(cancelled);
      expect((await scene.steps('a')).slice(-2)).toEqual(['Cancelled', 'LateResult']);
    },
  );

  it('of a call that its client has not acknowledged tells it to stop', async () => {
    const client = await scene.client();
    client.answer = null;
    const { turnId } = (await scene.post([createCall('a')])).body.result;
    const call = await client.delivery();
    expect((await scene.calls(turnId)).a).toMatchObject({
      status: 'forwarded',
      clientId: 'editor-1',
      attempt: 1,
    });
    await scene.cancel(turnId);
    expect(client.cancels).toEqual([{ callId: call.callId, reason: 'cancelled' }]);
  });

  it('frees the place in the window', async () => {
    const client = await scene.client({ maxInFlight: 1 });
    const { turnId } = (await scene.post([createCall('a'), createCall('b')])).body.result;
    await client.delivery();
    await scene.cancel(turnId, 'a');
    expect((await client.delivery(2)).toolCallId).toBe('b');
  });

  it('leaves what has ended as it is, and answers with it [TURN-7]', async () => {
    const client = await scene.client();
    const { turnId } = (await scene.post([createCall('a')])).body.result;
    await client.report(await client.delivery());
    const ended = (await scene.get(turnId)).body;
    for (const answer of [await scene.cancel(turnId), await scene.cancel(turnId, 'a')]) {
      expect(answer).toMatchObject({ status: 200, body: ended });
    }
    expect(ended.result.status).toBe('completed');
    expect(client.cancels).toEqual([]);
    expect(await scene.steps('a')).not.toContain('Cancelled');
  });

  it('twice is the same as once', async () => {
    const { turnId } = (await scene.post([createCall('a')])).body.result;
    const answers = await Promise.all([
      scene.cancel(turnId),
      scene.cancel(turnId),
      scene.cancel(turnId, 'a'),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await scene.steps('a')).toEqual(['Accepted', 'Cancelled']);
  });

  it('is recorded under whoever asked for it', async () => {
    const { turnId } = (await scene.post([createCall('a')])).body.result;
    await scene.cancel(turnId);
    const [event] = await readTrail(user, scene.workspaceId, '&event=Tool.CreateFile.Cancelled');
    expect(event).toMatchObject({
      actor: { userId: user.id, clientId: null },
      attempt: null,
      fields: { toolName: 'workspace_create_file', path: 'a.txt', errorCode: 'CANCELLED' },
    });
  });
});
