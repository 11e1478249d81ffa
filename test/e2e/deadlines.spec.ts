import type { OpenToolCall } from '@patchbay/protocol';
import { testFixture } from '../support/fixtures.js';
import { oneServer, startTestServer } from '../support/server.js';
import { createCall, RelayFixture } from '../support/relay-fixture.js';
import { readTrail } from '../support/invariants.js';

describe('a deadline', () => {
  const server = oneServer({ deliveryMs: 700, approvalMs: 900, executionMs: 700, graceMs: 0 });
  const fixture = testFixture(async () => RelayFixture.on(server(), await server().register()));

  const timedOut = (code: string) => ({ status: 'timed_out', result: null, error: { code } });

  it('ends a call that no client takes [TURN-9]', async () => {
    const { body } = await fixture.post([createCall('a')], { waitMs: 10_000 });
    expect(body.result).toMatchObject({ kind: 'final', status: 'completed' });
    expect(body.result.toolResults).toMatchObject([timedOut('DELIVERY_TIMEOUT')]);
    const [event] = await readTrail(fixture.user, fixture.workspaceId, '&event=Tool.CreateFile.TimedOut');
    expect(event).toMatchObject({
      actor: { userId: fixture.user.id, clientId: null },
      fields: { errorCode: 'DELIVERY_TIMEOUT' },
    });
  });

  it('ends a call that its client does not acknowledge [TURN-9]', async () => {
    const client = await fixture.client();
    client.answer = null;
    const { body } = await fixture.post([createCall('a')], { waitMs: 10_000 });
    expect(body.result.toolResults).toMatchObject([timedOut('DELIVERY_TIMEOUT')]);
    expect(client.cancels).toEqual([{ callId: client.calls[0]!.callId, reason: 'timed_out' }]);
  });

  it('ends a call that nobody approves, whether a person was asked or not [TURN-9]', async () => {
    const client = await fixture.client();
    const waiting = fixture.post([createCall('a'), createCall('b')], { waitMs: 10_000 });
    await client.status(await client.delivery(), 'awaiting_approval');
    await client.delivery(2);
    const { body } = await waiting;
    expect(body.result.toolResults).toMatchObject([
      timedOut('APPROVAL_TIMEOUT'),
      timedOut('APPROVAL_TIMEOUT'),
    ]);
    expect(client.cancels.map(({ reason }) => reason)).toEqual(['timed_out', 'timed_out']);
    expect(await client.report(client.calls[0]!)).toMatchObject({
      ok: false,
      error: { code: 'LATE_RESULT' },
    });
  });

  it('ends a call that runs too long [TURN-9]', async () => {
    const client = await fixture.client();
    const waiting = fixture.post([createCall('a')], { waitMs: 10_000 });
    await client.status(await client.delivery(), 'running');
    expect((await waiting).body.result.toolResults).toMatchObject([timedOut('EXECUTION_TIMEOUT')]);
  });

  it('is set by the turn where the turn names timeouts', async () => {
    const timeouts = { deliveryMs: 60_000, approvalMs: 70_000, executionMs: 80_000 };
    const client = await fixture.client();
    const before = Date.now();
    const { turnId } = (await fixture.post([createCall('a')], { timeouts })).body.result;
    const call = await client.delivery();
    await client.status(call, 'running');
    const { deadlines } = (await fixture.calls(turnId)).a as OpenToolCall;
    const after = Date.now();
    for (const [name, ms] of [
      ['deliveryAt', 60_000],
      ['approvalAt', 70_000],
      ['executionAt', 80_000],
    ] as const) {
      expect(Date.parse(deadlines[name]!)).toBeGreaterThanOrEqual(before + ms);
      expect(Date.parse(deadlines[name]!)).toBeLessThanOrEqual(after + ms);
    }
    expect(call.deadlines).toMatchObject({
      deliveryAt: deadlines.deliveryAt,
      approvalAt: null,
      executionAt: null,
    });
    await client.report(call);
  });

  it('ends each call separately', async () => {
    const client = await fixture.client();
    const waiting = fixture.post([createCall('a'), createCall('b')], { waitMs: 10_000 });
    await client.delivery(2);
    await client.report(client.calls[0]!);
    const { body } = await waiting;
    expect(body.result.toolResults).toMatchObject([{ status: 'succeeded' }, timedOut('APPROVAL_TIMEOUT')]);
  });
});

describe('a server that starts on the data of another', () => {
  it('ends calls that have expired, releases unacknowledged calls and waits for the rest', async () => {
    const settings = { graceMs: 200, acknowledgeMs: 1_000, catchUpMs: 250 };
    const first = await RelayFixture.start(settings);
    const { dataDir } = first.server;
    const client = await first.client();
    const { turnId: overdue } = (await first.post([createCall('overdue')], { timeouts: { approvalMs: 400 } }))
      .body.result;
    await client.delivery();
    await first.untilCall(overdue, 'overdue', 'acknowledged');
    const { turnId: kept } = (await first.post([createCall('kept')])).body.result;
    await client.delivery(2);
    await first.untilCall(kept, 'kept', 'acknowledged');
    client.answer = null;
    const { turnId: lost } = (await first.post([createCall('lost')])).body.result;
    await client.delivery(3);
    await first.server.app.close();

    await new Promise((resolve) => setTimeout(resolve, 400));
    const server = await startTestServer({ config: { ...settings, dataDir } });
    try {
      const fixture = first.movedTo(server);
      expect(((await fixture.calls(overdue, 5_000)).overdue as { error: unknown }).error).toMatchObject({
        code: 'APPROVAL_TIMEOUT',
      });
      const other = await fixture.client({ clientId: 'editor-2' });
      expect(await other.delivery()).toMatchObject({ toolCallId: 'lost', attempt: 2 });
      expect((await fixture.calls(kept)).kept).toMatchObject({
        status: 'acknowledged',
        clientId: 'editor-1',
      });
      await other.report(other.calls[0]!);
      expect((await fixture.get(lost)).body.result.kind).toBe('final');
      const back = await fixture.client({}, [
        { turnId: kept, callId: client.calls[1]!.callId, attempt: 1, state: 'running' },
      ]);
      await back.report(client.calls[1]!);
      expect((await fixture.get(kept)).body.result.kind).toBe('final');
      await fixture.close();
    } finally {
      await server.close();
      await first.server.close();
    }
  });
});
