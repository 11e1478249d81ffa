import { jest } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { ResumeAnswer, ResumeEntry, ToolCallDelivery } from '@patchbay/protocol';
import { DomainError } from '../../src/common/domain-error.js';
import { ClientReports } from '../../src/turns/engine/client-reports.js';
import { ResultCheck } from '../../src/turns/engine/result-check.js';
import { createdResult, failedResult, FakeClient, journalEntry } from '../support/fake-client.js';
import { suiteFixture, testFixture } from '../support/fixtures.js';
import { readTrail } from '../support/invariants.js';
import { createCall, RelayFixture } from '../support/relay-fixture.js';
import { startTestServer } from '../support/server.js';
import { waitFor } from '../support/wait-for.js';

const GRACE_MS = 150;

describe('a returning client', () => {
  const server = suiteFixture(() => startTestServer({ config: { graceMs: GRACE_MS } }));
  const user = suiteFixture(() => server.register());
  const fixture = testFixture(() => RelayFixture.on(server, user));

  /** Has a client take calls in a status, then lose its connection. */
  async function dropped(
    status: 'forwarded' | 'acknowledged' | 'awaiting_approval' | 'running',
    ...ids: string[]
  ): Promise<{ turnId: string; calls: ToolCallDelivery[] }> {
    const client = await fixture.client();
    if (status === 'forwarded') client.answer = null;
    const { turnId } = (await fixture.post(ids.map((id) => createCall(id)))).body.result;
    await client.delivery(ids.length);
    for (const call of client.calls) {
      if (status === 'awaiting_approval' || status === 'running') await client.status(call, status);
      await fixture.untilCall(turnId, call.toolCallId, status);
    }
    client.close();
    return { turnId, calls: client.calls };
  }
  async function back(
    journal: ResumeEntry[],
  ): Promise<{ client: FakeClient; answer: ResumeAnswer & { ok: true } }> {
    const client = await FakeClient.connect(fixture.clientOptions());
    fixture.clients.push(client);
    return { client, answer: (await client.resume(journal)) as ResumeAnswer & { ok: true } };
  }
  const finished = (call: ToolCallDelivery, more: Partial<ResumeEntry> = {}) =>
    journalEntry(call, 'succeeded', { result: createdResult(call), executionMs: 4, ...more });

  it('is sent nothing and may send nothing before its resume is answered [RELAY-3]', async () => {
    await fixture.post([createCall('a')]);
    const client = await FakeClient.connect(fixture.clientOptions());
    fixture.clients.push(client);
    const call = { turnId: 't', callId: randomUUID(), attempt: 1, status: 'running' };
    for (const event of ['tool:status', 'tool:result']) {
      expect(await client.send(event, call)).toMatchObject({ ok: false, error: { code: 'CONFLICT' } });
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(client.calls).toEqual([]);
    // However long it takes to take up what waits: its calls are not what the answer waits for.
    const takeUp = jest.spyOn(server.app.get(ClientReports, { strict: false }), 'takeUpPending');
    takeUp.mockImplementationOnce(async function (this: ClientReports, of) {
      const turns = await ClientReports.prototype.takeUpPending.call(this, of);
      await new Promise((resolve) => setTimeout(resolve, 200));
      return turns;
    });
    const callsBefore = await new Promise((resolve) => {
      client.socket.emit('client:resume', [], () => resolve(client.calls.length));
    });
    expect(callsBefore).toBe(0);
    takeUp.mockRestore();
    await client.report(await client.delivery());
  });

  it('may report as soon as its resume is answered, even if the server is slow [RELAY-3]', async () => {
    const { turnId, calls } = await dropped('running', 'a');
    const client = await FakeClient.connect(fixture.clientOptions());
    fixture.clients.push(client);
    const late = jest
      .spyOn(globalThis, 'setImmediate')
      .mockImplementation(((go: () => void) => setTimeout(go, 300)) as never);
    const ack = await new Promise((resolve) => {
      client.socket.emit('client:resume', [journalEntry(calls[0]!, 'running')], () =>
        resolve(client.report(calls[0]!)),
      );
    });
    late.mockRestore();
    expect(ack).toEqual({ ok: true });
    expect((await fixture.calls(turnId)).a!.status).toBe('succeeded');
  });

  it.each(['forwarded', 'acknowledged', 'awaiting_approval'] as const)(
    'gets a call that was %s and is missing in its journal again at once, as another attempt [RELAY-4]',
    async (status) => {
      const { turnId, calls } = await dropped(status, 'a');
      const { client, answer } = await back([]);
      expect(answer).toEqual({ ok: true, forget: [], resume: [] });
      const again = await client.delivery();
      expect(again).toEqual({ ...calls[0], attempt: 2, deadlines: again.deadlines });
      expect(again.deadlines.deliveryAt).toBe(calls[0]!.deadlines.deliveryAt);
      expect(again.deadlines.approvalAt === null).toBe(status === 'forwarded');
      await client.report(again);
      expect((await fixture.calls(turnId)).a!.status).toBe('succeeded');
      const steps = await fixture.steps('a');
      expect(steps.slice(steps.indexOf('Released'))).toEqual([
        'Released',
        'Forwarded',
        'Acknowledged',
        'ResultReceived',
      ]);
      const [released] = await readTrail(user, fixture.workspaceId, '&event=Tool.CreateFile.Released');
      // Under the short grace of these tests an unacknowledged call may be free already when its client is back.
      expect(released!.fields.reason).toMatch(
        status === 'forwarded' ? /^(unknown_to_client|client_left)$/ : /^unknown_to_client$/,
      );
    },
  );

  it('never gets a running call again that is missing in its journal: the call ends with unknown outcome [RELAY-4]', async () => {
    const { turnId } = await dropped('running', 'a');
    const { client, answer } = await back([]);
    expect(answer).toEqual({ ok: true, forget: [], resume: [] });
    expect((await fixture.get(turnId)).body.result.toolResults).toMatchObject([
      {
        ...{ status: 'failed', result: null },
        error: {
          code: 'OUTCOME_UNKNOWN',
          message: expect.stringContaining('check before you repeat it') as string,
        },
      },
    ]);
    expect(client.calls).toEqual([]);
    expect((await fixture.steps('a')).slice(-2)).toEqual(['Running', 'ResultReceived']);
    const [told] = await readTrail(user, fixture.workspaceId, '&errorCode=OUTCOME_UNKNOWN');
    expect(told).toMatchObject({ attempt: 1, fields: { success: false } });
  });

  it.each([
    ['forwarded', 'acknowledged'],
    ['forwarded', 'running'],
    ['acknowledged', 'awaiting_approval'],
    ['running', 'acknowledged'],
    ['running', 'running'],
  ] as const)('continues a call that was %s and is %s in its journal [RELAY-4]', async (before, state) => {
    const { turnId, calls } = await dropped(before, 'a');
    const { client, answer } = await back([journalEntry(calls[0]!, state)]);
    expect(answer).toEqual({ ok: true, forget: [], resume: [calls[0]!.callId] });
    expect((await fixture.calls(turnId)).a!.status).toBe(before === 'running' ? 'running' : state);
    expect(await client.report(calls[0]!)).toEqual({ ok: true });
    expect(client.calls).toEqual([]);
  });

  it('hands in the results of finished calls [RELAY-4]', async () => {
    const { turnId, calls } = await dropped('running', 'a', 'b', 'c');
    const [a, b, c] = calls as [ToolCallDelivery, ToolCallDelivery, ToolCallDelivery];
    const approval = { decision: 'deny' as const, by: 'ada', at: '2025-06-01T12:00:00Z', note: 'no' };
    const failure = failedResult(b, 'WriteFailed');
    const { answer } = await back([
      finished(a),
      journalEntry(b, 'failed', { result: failure }),
      journalEntry(c, 'denied', { result: null, approval }),
    ]);
    expect(answer.resume).toEqual([]);
    expect([...answer.forget].sort()).toEqual([a.callId, b.callId, c.callId].sort());
    expect((await fixture.get(turnId)).body.result.toolResults).toMatchObject([
      { status: 'succeeded', result: createdResult(a), executionMs: 4 },
      { status: 'failed', error: { code: 'WriteFailed' } },
      { status: 'denied', error: { message: 'no' } },
    ]);
  });

  it('continues after a result that does not match the schema', async () => {
    const { turnId, calls } = await dropped('acknowledged', 'a');
    const { client, answer } = await back([
      journalEntry(calls[0]!, 'succeeded', { result: { success: true } }),
    ]);
    expect(answer).toEqual({ ok: true, forget: [], resume: [calls[0]!.callId] });
    expect((await fixture.calls(turnId)).a!.status).toBe('running');
    expect(await client.report(calls[0]!)).toEqual({ ok: true });
  });

  it.each(['RATE_LIMITED', 'UNAVAILABLE', 'TOO_LARGE'] as const)(
    'is rejected with a result that cannot be checked now, %s, and loses nothing when it retries [RELAY-4]',
    async (code) => {
      const { turnId, calls } = await dropped('running', 'a');
      const checks = server.app.get(ResultCheck, { strict: false });
      jest.spyOn(checks, 'check').mockRejectedValueOnce(new DomainError(code, 'Not now.'));
      const client = await FakeClient.connect(fixture.clientOptions());
      fixture.clients.push(client);
      const journal = [finished(calls[0]!)];
      expect(await client.send('client:resume', journal)).toMatchObject({ ok: false, error: { code } });
      expect(await client.resume(journal)).toMatchObject({ forget: [calls[0]!.callId] });
      expect((await fixture.calls(turnId)).a!.status).toBe('succeeded');
    },
  );

  it('is told to forget an ended call, and its result is recorded as late', async () => {
    const { turnId, calls } = await dropped('running', 'a', 'b');
    await fixture.cancel(turnId);
    const { answer } = await back([finished(calls[0]!), journalEntry(calls[1]!, 'running')]);
    expect(answer).toEqual({ ok: true, forget: calls.map(({ callId }) => callId), resume: [] });
    expect((await fixture.steps('a')).at(-1)).toBe('LateResult');
    expect((await fixture.steps('b')).at(-1)).toBe('Cancelled');
  });

  it('is told to forget a call whose result the server has', async () => {
    const first = await fixture.client();
    await fixture.post([createCall('a')]);
    const call = await first.delivery();
    await first.report(call);
    first.close();
    const { answer } = await back([finished(call)]);
    expect(answer).toEqual({ ok: true, forget: [call.callId], resume: [] });
    expect((await fixture.steps('a')).at(-1)).toBe('DuplicateResult');
  });

  it('is told to forget a call that another client has taken', async () => {
    const { calls } = await dropped('forwarded', 'a');
    const second = await fixture.client({ clientId: 'editor-2' });
    const taken = await second.delivery();
    expect(taken.attempt).toBe(2);
    expect((await back([journalEntry(calls[0]!, 'running')])).answer.forget).toEqual([calls[0]!.callId]);
    fixture.clients.at(-1)!.close();
    expect((await back([finished(calls[0]!)])).answer.forget).toEqual([calls[0]!.callId]);
    expect((await fixture.steps('a')).at(-1)).toBe('LateResult');
    await second.report(taken);
  });

  it('takes a pending call up again, unless it belongs to another user', async () => {
    const { turnId, calls } = await dropped('forwarded', 'a');
    await fixture.untilCall(turnId, 'a', 'pending');
    const { client, answer } = await back([journalEntry(calls[0]!, 'running')]);
    expect(answer.resume).toEqual([calls[0]!.callId]);
    expect((await fixture.calls(turnId)).a).toMatchObject({
      status: 'running',
      clientId: 'editor-1',
      attempt: 1,
    });
    await client.report(calls[0]!);
    expect(client.calls).toEqual([]);
  });

  it('is told to forget unknown calls and calls of another user [RELAY-4]', async () => {
    const other = await server.register();
    await user.addMember(fixture.workspaceId, other);
    const { calls, turnId } = await dropped('running', 'a');
    const foreign = await FakeClient.connect(fixture.clientOptions({ token: other.token }));
    fixture.clients.push(foreign);
    const unknown = { turnId: 'x', callId: randomUUID(), attempt: 1, state: 'running' as const };
    expect(await foreign.resume([unknown, finished(calls[0]!)])).toEqual({
      ok: true,
      forget: [unknown.callId, calls[0]!.callId],
      resume: [],
    });
    expect((await fixture.calls(turnId)).a!.status).toBe('running');
  });

  it('is told to forget a call that was never sent to it', async () => {
    const { result } = (await fixture.post([createCall('a')])).body;
    const { callId } = result.toolCalls[0]!;
    const entry = { turnId: result.turnId, callId, attempt: 1, state: 'running' as const };
    const { client, answer } = await back([entry]);
    expect(answer).toEqual({ ok: true, forget: [callId], resume: [] });
    await client.report(await client.delivery());
  });

  it('is told to forget a finished call of a removed tool, and its other calls continue', async () => {
    const { result } = (await fixture.post([{ toolCallId: 'gone', name: 'nothing', arguments: {} }])).body;
    const { callId } = result.toolResults[0]!;
    const entry = { turnId: result.turnId, callId, attempt: 1, state: 'succeeded' as const, result: {} };
    expect((await back([entry])).answer).toEqual({ ok: true, forget: [callId], resume: [] });
  });

  it('counts continued calls in its window', async () => {
    const first = await fixture.client({ maxInFlight: 2 });
    await fixture.post(['a', 'b', 'c'].map((id) => createCall(id)));
    await first.delivery(2);
    await waitFor(async () => (await fixture.steps('b')).includes('Acknowledged'), 'b acknowledged');
    first.close();
    const journal = first.calls.map((call) => journalEntry(call, 'running'));
    const client = await fixture.client({ maxInFlight: 2 }, journal);
    await client.send('tool:status', {});
    expect(client.calls).toEqual([]);
    await client.report(first.calls[0]!);
    expect((await client.delivery()).toolCallId).toBe('c');
  });
});
