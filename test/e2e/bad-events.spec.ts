import { jest } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { EventEmitter } from 'node:events';
import { storesOf } from '../contract/backends.js';
import { createdResult, type FakeClient } from '../support/fake-client.js';
import { suiteFixture, testFixture } from '../support/fixtures.js';
import { createCall, RelayFixture } from '../support/relay-fixture.js';
import { startTestServer } from '../support/server.js';
import { waitFor } from '../support/wait-for.js';

const LIMIT = 64 * 1024;

describe('an invalid event', () => {
  const server = suiteFixture(() =>
    startTestServer({ config: { maxBodyBytes: LIMIT, rateLimit: 1_000_000 } }),
  );
  const user = suiteFixture(() => server.register());
  const fixture = testFixture(() => RelayFixture.on(server, user));
  let client: FakeClient;
  beforeEach(async () => {
    client = await fixture.client();
  });

  const refused = (code: string) => ({ ok: false, error: { code, message: expect.any(String) as string } });
  /** The connection is as good as before: a call comes and its result is taken. */
  async function stillWorks(): Promise<void> {
    const { toolCallId } = (await fixture.post([createCall('after')])).body.result.toolCalls[0]!;
    const call = await client.delivery();
    expect(call.toolCallId).toBe(toolCallId);
    expect(await client.report(call)).toEqual({ ok: true });
  }
  const GARBAGE: unknown[] = [
    null,
    undefined,
    [],
    {},
    0,
    '',
    'x',
    true,
    [[]],
    { turnId: 1 },
    Buffer.from('x'),
  ];

  it.each(['tool:status', 'tool:result', 'files:put', 'folder:status'])(
    'rejects an invalid %s and keeps the connection [RELAY-12]',
    async (event) => {
      for (const payload of GARBAGE) {
        expect(await client.send(event, payload)).toMatchObject(refused('VALIDATION_ERROR'));
      }
      expect(await client.send(event)).toMatchObject(refused('VALIDATION_ERROR'));
      expect(await client.send(event, {}, {})).toMatchObject(refused('VALIDATION_ERROR'));
      await stillWorks();
    },
  );

  it('rejects an event with an unknown name', async () => {
    for (const event of ['tool:call', 'hello', '__proto__', 'constructor', 'frame:oversized', '']) {
      expect(await client.send(event, {})).toMatchObject(refused('NOT_FOUND'));
    }
    await stillWorks();
  });

  it('ignores an event without an acknowledgement callback', async () => {
    const socket = client.socket as unknown as { emit: (event: string, ...payload: unknown[]) => void };
    for (const payload of GARBAGE) {
      for (const event of ['client:resume', 'tool:status', 'tool:result', 'auth:refresh', 'hello']) {
        socket.emit(event, payload);
        socket.emit(event);
      }
    }
    // An empty resume among them gives back what the client holds: all are answered before a call comes.
    await client.resume([]);
    await stillWorks();
  });

  it('rejects an event beyond its bounds', async () => {
    const call = { turnId: 't', callId: randomUUID(), attempt: 1 };
    for (const change of [
      { status: 'succeeded' },
      { status: 'running', note: 7 },
      { status: 'running', attempt: 1.5 },
      { status: 'running', turnId: 'a b' },
      { status: 'running', callId: 'x' },
      { status: 'running', extra: true },
      JSON.parse('{"status":"running","__proto__":{"admin":true}}') as object,
    ]) {
      expect(await client.send('tool:status', { ...call, ...change })).toMatchObject(
        refused('VALIDATION_ERROR'),
      );
    }
    expect(await client.send('tool:status', { ...call, status: 'running' })).toMatchObject(
      refused('NOT_FOUND'),
    );
  });

  it('rejects progress of a call, with the reason, and leaves the call unchanged [RELAY-46]', async () => {
    const { turnId } = (await fixture.post([createCall('p')])).body.result;
    const { callId, attempt } = await client.delivery();
    const status = { turnId, callId, attempt, status: 'running' };
    for (const progress of [0, 0.5, 1, '', 'half', false, [], { done: 1, total: 2 }]) {
      const answer = await client.send('tool:status', { ...status, progress });
      expect(answer).toMatchObject(refused('VALIDATION_ERROR'));
      expect(answer).toMatchObject({
        error: { fields: { progress: expect.stringContaining('note') as string } },
      });
    }
    expect((await fixture.calls(turnId)).p!.status).not.toBe('running');
    expect(await client.send('tool:status', { ...status, progress: null, note: '1 of 2' })).toEqual({
      ok: true,
    });
    expect((await fixture.calls(turnId)).p!.status).toBe('running');
  });

  it('names every fault by its path, as a request over HTTP does [RELAY-26]', async () => {
    const call = { turnId: 't', callId: randomUUID(), attempt: 1.5, status: 'done', extra: true };
    const { error } = (await client.send('tool:status', call)) as unknown as { error: { fields: object } };
    expect(Object.keys(error.fields).sort()).toEqual(['attempt', 'extra', 'status']);
  });

  it('that is too large is refused, text and bytes alike, and the connection lives on [RELAY-12]', async () => {
    for (const payload of ['x'.repeat(LIMIT), 'ä'.repeat(LIMIT / 2), { content: Buffer.alloc(LIMIT) }]) {
      expect(await client.send('tool:result', payload)).toMatchObject(refused('TOO_LARGE'));
    }
    await stillWorks();
  });

  it('that is too large leaves the call open of which it was the result', async () => {
    const { turnId } = (await fixture.post([createCall('a')])).body.result;
    const call = await client.delivery();
    const bloated = { ...createdResult(call), message: 'x'.repeat(LIMIT) } as unknown;
    expect(await client.report(call, { result: bloated })).toMatchObject(refused('TOO_LARGE'));
    expect(await client.report(call)).toEqual({ ok: true });
    expect((await fixture.calls(turnId)).a!.status).toBe('succeeded');
  });

  it('that is out of all bounds ends its own connection only', async () => {
    const other = await fixture.client({ clientId: 'other' });
    client.socket.emit('auth:refresh', 'x'.repeat(3 * LIMIT), () => undefined);
    await client.closed();
    expect(await other.send('hello')).toMatchObject(refused('NOT_FOUND'));
  });

  const emit = ({ socket }: FakeClient, event: string, times: number): void => {
    for (let count = 0; count < times; count++) (socket as unknown as EventEmitter).emit(event);
  };
  /** Clients of a member whose bounds are nobody else's. */
  async function floodingClients(count: number): Promise<FakeClient[]> {
    const member = await server.register();
    await user.addMember(fixture.workspaceId, member);
    const ids = Array.from({ length: count }, (_, at) => `flooding-${at}`);
    return Promise.all(ids.map((clientId) => fixture.client({ token: member.token, clientId })));
  }

  it('is one of a flood, and that ends the connection [RELAY-12]', async () => {
    const other = await fixture.client({ clientId: 'other' });
    emit(client, 'hello', 10_000);
    await client.closed();
    expect(await other.send('hello')).toMatchObject(refused('NOT_FOUND'));
  });

  it('is one of a flood sooner where it writes [RELAY-12]', async () => {
    const [flooding] = await floodingClients(1);
    emit(flooding!, 'hello', 1_000);
    expect(await flooding!.send('hello')).toMatchObject(refused('NOT_FOUND'));
    emit(flooding!, 'folder:status', 1_000);
    await flooding!.closed();
  });

  it('is one of a flood that comes over several connections of a user [RELAY-12]', async () => {
    const clients = await floodingClients(4);
    for (const flooding of clients) emit(flooding, 'folder:status', 380);
    await waitFor(() => clients.some(({ connected }) => !connected), 'the end of one');
  });

  it('is told from one that the server failed at, and both may be sent again', async () => {
    const list = { sessionId: fixture.session.sessionId, activeFiles: [] };
    const failing = jest
      .spyOn(storesOf(server.app).sessions, 'byId')
      .mockRejectedValueOnce(new Error('disk'));
    expect(await client.send('session:active_files', list)).toMatchObject(refused('INTERNAL_ERROR'));
    expect(await client.send('session:active_files', list)).toEqual({ ok: true });
    failing.mockRestore();
  });

  it('may be the answer to a delivery: then the call was not taken', async () => {
    const { turnId } = (await fixture.post([createCall('a')])).body.result;
    await client.report(await client.delivery());
    for (const answer of [null, 'ok', { ok: 'yes' }, {}]) {
      (client as { answer: unknown }).answer = answer ?? [];
      const { turnId: refusedTurn } = (await fixture.post([createCall('b')])).body.result;
      await fixture.untilCall(refusedTurn, 'b', 'pending');
      await fixture.cancel(refusedTurn);
    }
    expect((await fixture.calls(turnId)).a!.status).toBe('succeeded');
  });
});
