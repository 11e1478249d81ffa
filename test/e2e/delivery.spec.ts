import type { WorkspaceRoot } from '@patchbay/protocol';
import { storesOf } from '../contract/backends.js';
import { aRoot, FakeClient } from '../support/fake-client.js';
import { suiteFixture, testFixture } from '../support/fixtures.js';
import { hold } from '../support/hold.js';
import { readCallTrail, readTrail } from '../support/invariants.js';
import { createCall, RelayFixture } from '../support/relay-fixture.js';
import { ShiftedClock } from '../support/shifted-clock.js';
import { startTestServer } from '../support/server.js';
import { waitFor } from '../support/wait-for.js';

const GRACE_MS = 300;
/** Nobody waits for it but the clock. */
const LONG_GRACE_MS = 60_000;

describe('a pending call', () => {
  const server = suiteFixture(() => startTestServer({ config: { graceMs: GRACE_MS } }));
  const user = suiteFixture(() => server.register());
  const fixture = testFixture(() => RelayFixture.on(server, user));

  const ids = (client: FakeClient): string[] => client.calls.map(({ toolCallId }) => toolCallId);
  const numbered = (count: number): string[] => Array.from({ length: count }, (_, at) => `c${at}`);
  const settle = (client: FakeClient) => client.send('tool:status', {});

  it('is sent in the order of posting, up to the number that the client takes [RELAY-6]', async () => {
    const client = await fixture.client({ maxInFlight: 3 });
    const { turnId } = (await fixture.post(numbered(5).map((id) => createCall(id)))).body.result;
    await fixture.post([createCall('later')]);
    await client.delivery(3);
    for (const id of ['c0', 'c1', 'c2']) await fixture.untilCall(turnId, id, 'acknowledged');
    expect(ids(client)).toEqual(['c0', 'c1', 'c2']);
    expect(Object.values(await fixture.calls(turnId)).map(({ status }) => status)).toEqual([
      ...['acknowledged', 'acknowledged', 'acknowledged'],
      ...['pending', 'pending'],
    ]);
    await client.report(client.calls[1]!);
    await client.delivery(4);
    await client.report(client.calls[0]!);
    await client.delivery(5);
    await client.report(client.calls[2]!);
    await client.delivery(6);
    expect(ids(client)).toEqual(['c0', 'c1', 'c2', 'c3', 'c4', 'later']);
    for (const call of client.calls.slice(3)) await client.report(call);
  });

  it('is one of at most eight in flight where the client names no number [RELAY-6]', async () => {
    const client = await fixture.client();
    const { turnId } = (await fixture.post(numbered(10).map((id) => createCall(id)))).body.result;
    await client.delivery(8);
    await settle(client);
    expect(client.calls).toHaveLength(8);
    await fixture.cancel(turnId);
  });

  it('is sent as calls of earlier turns end', async () => {
    const client = await fixture.client({ maxInFlight: 2 });
    const posted = numbered(12).map((id) => fixture.post([createCall(id)], { waitMs: 10_000 }));
    for (let count = 1; count <= 12; count++) await client.report(await client.delivery(count));
    expect((await Promise.all(posted)).map(({ status }) => status)).toEqual(posted.map(() => 200));
  });

  it('is sent to a client that has its tool [RELAY-6]', async () => {
    const without = await fixture.client({ clientId: 'viewer', tools: ['workspace_write_patch'] });
    await fixture.post([createCall('a')]);
    await settle(without);
    const editor = await fixture.client({ clientId: 'editor' });
    await editor.report(await editor.delivery());
    expect(without.calls).toEqual([]);
  });

  it('is sent to the client that its session used last, else to the most recently active one [RELAY-6]', async () => {
    const [a, b] = [await fixture.client({ clientId: 'a' }), await fixture.client({ clientId: 'b' })];
    await new Promise((resolve) => setTimeout(resolve, 5));
    await settle(a);
    await fixture.post([createCall('first')]);
    await a.report(await a.delivery());
    await new Promise((resolve) => setTimeout(resolve, 5));
    await settle(b);
    await fixture.post([createCall('second')]);
    await a.report(await a.delivery(2));
    await new Promise((resolve) => setTimeout(resolve, 5));
    await settle(b);
    await fixture.newSession();
    await fixture.post([createCall('third')]);
    await b.report(await b.delivery());
    expect([ids(a), ids(b)]).toEqual([['first', 'second'], ['third']]);
  });

  it('is sent to the client of the session’s first call while that claim is being written [RELAY-6]', async () => {
    const [a, b] = [await fixture.client({ clientId: 'a' }), await fixture.client({ clientId: 'b' })];
    await new Promise((resolve) => setTimeout(resolve, 5));
    await settle(a);
    const slow = hold(storesOf(fixture.server.app).turns, 'insert');
    const first = fixture.post([createCall('first')]);
    await slow.reached;
    await new Promise((resolve) => setTimeout(resolve, 5));
    await settle(b);
    const second = fixture.post([createCall('second')]);
    await slow.reachedBy(2);
    slow.release();
    await Promise.all([first, second]);
    await a.delivery(2);
    expect([ids(a).sort(), ids(b)]).toEqual([['first', 'second'], []]);
    for (const call of a.calls) await a.report(call);
  });

  it('is sent to the client of the other calls of its turn and waits for a slot there', async () => {
    const [a, b] = [
      await fixture.client({ clientId: 'a' }),
      await fixture.client({ clientId: 'b', maxInFlight: 2 }),
    ];
    await new Promise((resolve) => setTimeout(resolve, 5));
    await settle(b);
    const { turnId } = (await fixture.post(numbered(4).map((id) => createCall(id)))).body.result;
    await b.delivery(2);
    await settle(a);
    expect(a.calls).toEqual([]);
    await b.report(b.calls[0]!);
    await b.delivery(3);
    expect(ids(b)).toEqual(['c0', 'c1', 'c2']);
    await fixture.cancel(turnId);
  });

  it('is sent only to the client that its session is bound to, and waits for it [RELAY-6] [RELAY-7]', async () => {
    const other = await fixture.client({ clientId: 'other' });
    await fixture.newSession('bound');
    await fixture.post([createCall('a')]);
    await settle(other);
    const bound = await fixture.client({ clientId: 'bound' });
    bound.answer = null;
    await bound.delivery();
    bound.close();
    await new Promise((resolve) => setTimeout(resolve, 2 * GRACE_MS));
    expect(other.calls).toEqual([]);
    const back = await fixture.client({ clientId: 'bound' });
    const again = await back.delivery();
    expect(again.attempt).toBe(2);
    await back.report(again);
  });

  it('waits for its client when that left after the acknowledgement', async () => {
    const a = await fixture.client({ clientId: 'a' });
    const { turnId } = (await fixture.post([createCall('a')])).body.result;
    const call = await a.delivery();
    await fixture.untilCall(turnId, 'a', 'acknowledged');
    a.close();
    const b = await fixture.client({ clientId: 'b' });
    await new Promise((resolve) => setTimeout(resolve, 2 * GRACE_MS));
    expect(b.calls).toEqual([]);
    expect((await fixture.calls(turnId)).a).toMatchObject({ status: 'acknowledged', clientId: 'a' });
    const entry = { turnId, callId: call.callId, attempt: 1, state: 'running' as const };
    const back = await fixture.client({ clientId: 'a' }, [entry]);
    await back.report(call);
  });

  it('waits for a connected client when it comes after its client has left', async () => {
    const gone = await fixture.client({ roots: [aRoot('proj')] });
    gone.close();
    const path = `/workspaces/${fixture.workspaceId}/roots`;
    const isThere = async () => (await user.get<{ roots: WorkspaceRoot[] }>(path)).body.roots[0]!.connected;
    await waitFor(async () => !(await isThere()), 'the end of its connection');
    const { body } = await fixture.post([createCall('a')]);
    expect(body.result.toolCalls).toMatchObject([{ status: 'pending', attempt: 0 }]);
    const next = await fixture.client({ clientId: 'next' });
    await next.report(await next.delivery());
  });

  it('frees its slot when its client refuses it [RELAY-5]', async () => {
    const client = await fixture.client({ maxInFlight: 1 });
    client.answer = { ok: false, error: { code: 'UNAVAILABLE', message: 'The journal is full.' } };
    const { turnId } = (await fixture.post([createCall('a')])).body.result;
    await client.delivery();
    await fixture.untilCall(turnId, 'a', 'pending');
    client.answer = { ok: true };
    await fixture.post([createCall('b')]);
    expect((await client.delivery(2)).toolCallId).toBe('b');
    await client.report(client.calls[1]!);
    const [released] = await readTrail(user, fixture.workspaceId, '&event=Tool.CreateFile.Released');
    expect(released!.fields).toMatchObject({ reason: 'refused', note: 'The journal is full.' });
    await fixture.cancel(turnId);
  });

  it('is never sent to another user or into another workspace, even to a client of the same id [RELAY-6]', async () => {
    const other = await server.register();
    await user.addMember(fixture.workspaceId, other);
    const elsewhere = await RelayFixture.on(server, user);
    const [mine, theirs, away] = await Promise.all([
      fixture.client({ clientId: 'editor' }),
      fixture.client({ clientId: 'editor', token: other.token }),
      elsewhere.client({ clientId: 'editor' }),
    ]);
    const theirSession = await other.post<{ sessionId: string }>(
      `/workspaces/${fixture.workspaceId}/sessions`,
      {},
    );
    const theirPath = `/workspaces/${fixture.workspaceId}/sessions/${theirSession.body.sessionId}/turns`;
    const posts = numbered(6).flatMap((id) => [
      fixture.post([createCall(`mine-${id}`)]),
      elsewhere.post([createCall(`away-${id}`)]),
      other.post(theirPath, { toolCalls: [createCall(`theirs-${id}`)], waitMs: 0 }),
    ]);
    await Promise.all(posts);
    await Promise.all([mine.delivery(6), theirs.delivery(6), away.delivery(6)]);
    for (const [client, prefix] of [
      [mine, 'mine-'],
      [theirs, 'theirs-'],
      [away, 'away-'],
    ] as const) {
      await Promise.all(client.calls.map((call) => client.report(call)));
      expect(ids(client).filter((id) => !id.startsWith(prefix))).toEqual([]);
    }
    const trail = await readCallTrail(user, elsewhere.workspaceId);
    expect(trail.filter(({ toolCallId }) => !toolCallId!.startsWith('away-'))).toEqual([]);
    await elsewhere.close();
  });
});

describe('a slow client', () => {
  const clock = new ShiftedClock();
  const server = suiteFixture(() =>
    startTestServer({ clock, config: { graceMs: LONG_GRACE_MS, acknowledgeMs: 400, catchUpMs: 250 } }),
  );
  const user = suiteFixture(() => server.register());
  const fixture = testFixture(() => RelayFixture.on(server, user));

  it('is disconnected when it does not resume in time [RELAY-3]', async () => {
    const client = await FakeClient.connect(fixture.clientOptions());
    await client.closed();
    expect(client.closedBecause).toBe('io server disconnect');
  });

  it('stays connected once it has resumed, beyond the time to resume [RELAY-3]', async () => {
    const resumed = await fixture.client({ clientId: 'resumed' });
    const silent = await FakeClient.connect(fixture.clientOptions({ clientId: 'silent' }));
    await silent.closed();
    expect(resumed.connected).toBe(true);
  });

  it('is disconnected when it does not acknowledge in time, and the call is released [RELAY-5]', async () => {
    const client = await fixture.client();
    client.answer = null;
    const { turnId } = (await fixture.post([createCall('a')])).body.result;
    await client.delivery();
    await client.closed();
    clock.pass(LONG_GRACE_MS + 1_000);
    await fixture.untilCall(turnId, 'a', 'pending');
  });

  it('loses an unacknowledged call to another client after the grace period and not before [RELAY-7]', async () => {
    const a = await fixture.client({ clientId: 'a' });
    a.answer = null;
    const { turnId } = (await fixture.post([createCall('a')])).body.result;
    await a.delivery();
    const b = await fixture.client({ clientId: 'b' });
    const { sessionId } = fixture.session;
    const { turns } = storesOf(server.app);
    const standing = async () =>
      (await turns.find({ workspaceId: fixture.workspaceId, sessionId, turnId }))!.calls[0]!.releaseAt!;
    const before = await standing();
    a.close();
    await waitFor(async () => (await standing()) !== before, 'the grace to begin');
    clock.pass(LONG_GRACE_MS - 1_000);
    // Several rounds of the clocks' sweep.
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(b.calls).toEqual([]);
    clock.pass(1_000);
    const again = await b.delivery();
    expect(again.attempt).toBe(2);
    await b.report(again);
    const [released] = await readTrail(user, fixture.workspaceId, '&event=Tool.CreateFile.Released');
    expect(released).toMatchObject({ actor: { clientId: 'a' }, fields: { reason: 'client_left' } });
  });

  it('is offered a refused call again after 5 s and not before [RELAY-5]', async () => {
    const client = await fixture.client();
    client.answer = { ok: false, error: { code: 'UNAVAILABLE', message: 'busy' } };
    const { turnId } = (await fixture.post([createCall('again')])).body.result;
    await client.delivery();
    await fixture.untilCall(turnId, 'again', 'pending');
    client.answer = { ok: true };
    clock.pass(4_000);
    // Several rounds of the clocks' sweep.
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(client.calls).toHaveLength(1);
    clock.pass(1_000);
    const again = await client.delivery(2);
    expect(again.attempt).toBe(2);
    await client.report(again);
  });

  it('leaves a refused call to another client [RELAY-5]', async () => {
    const refusing = await fixture.client({ clientId: 'refusing' });
    refusing.answer = { ok: false, error: { code: 'UNAVAILABLE', message: 'busy' } };
    const helping = await fixture.client({ clientId: 'helping' });
    await fixture.newSession();
    await refusing.send('tool:status', {});
    const { turnId } = (await fixture.post([createCall('elsewhere')])).body.result;
    await refusing.delivery();
    await fixture.untilCall(turnId, 'elsewhere', 'pending');
    clock.pass(5_000);
    await helping.report(await helping.delivery());
    expect(refusing.calls).toHaveLength(1);
  });
});
