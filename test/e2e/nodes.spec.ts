import type { InvokeResult, TurnResult } from '@patchbay/protocol';
import { jest } from '@jest/globals';
import { ToolRunner } from '../../src/tools/tool-runner.js';
import { OpenTurns } from '../../src/turns/engine/open-turns.js';
import { givenFile, journalEntry } from '../support/fake-client.js';
import { createCall, type RelayFixture } from '../support/relay-fixture.js';
import type { Answer, TestServer } from '../support/server.js';
import { waitFor } from '../support/wait-for.js';
import { Editor } from '../support/editor.js';
import { TextsFixture } from '../support/texts-fixture.js';
import { onTwoNodes, TwoNodes } from '../support/two-nodes.js';

const ls = (toolCallId: string): Record<string, unknown> => ({
  toolCallId,
  name: 'ls',
  arguments: { path: '/' },
});

const statusOf = ({ body }: Answer<InvokeResult<TurnResult>>): unknown =>
  body.result.toolResults.map(({ toolCallId, status }) => `${toolCallId} ${status}`);

// A hint may be late, lost or doubled: what holds with sound ones must hold without any.
describe.each(['sound', 'faulty', 'cut'] as const)('two nodes with a %s bus', (line) => {
  const nodes = onTwoNodes(line);
  let two: TwoNodes;
  let [a, b]: RelayFixture[] = [];
  beforeEach(() => {
    two = nodes();
    ({ a, b } = two);
  });

  it('relay a turn from one node to a client of the other, and answer the waiting request', async () => {
    const client = await a!.client();
    const posted = b!.post([createCall('c1')], { turnId: 't', waitMs: 20_000 });
    await waitFor(() => client.calls.length === 1, 'the delivery');
    expect(await client.report(client.calls[0]!)).toEqual({ ok: true });
    expect(statusOf(await posted)).toEqual(['c1 succeeded']);
    expect((await b!.get('t')).body.result.kind).toBe('final');
  });

  it('stop a client when the other node cancels the call, and free its slot', async () => {
    const client = await a!.client({ maxInFlight: 1 });
    await a!.post([createCall('c1'), createCall('c2')], { turnId: 't' });
    const [first] = [await client.delivery()];
    const waiting = a!.get('t', 20_000);
    expect(statusOf(await b!.cancel('t', 'c1'))).toEqual(['c1 cancelled']);
    await waitFor(() => client.cancels.length > 0, 'the cancel');
    expect(client.cancels[0]).toEqual({ callId: first.callId, reason: 'cancelled' });
    await waitFor(() => client.calls.length === 2, 'the place of the cancelled call');
    await client.report(client.calls[1]!);
    expect(statusOf(await waiting)).toEqual(['c1 cancelled', 'c2 succeeded']);
  });

  it('accept a result over HTTP on one node for a call of a client of the other', async () => {
    const client = await a!.client();
    await a!.post([createCall('c1')], { turnId: 't' });
    const call = await client.delivery();
    const result = { success: true, message: 'ok', path: 'c1.txt', sizeBytes: 2, hash: 'a'.repeat(64) };
    const full = { ...result, created: true, overwritten: false, errorCode: null };
    const answer = await b!.postResults('t', [{ toolCallId: 'c1', result: full }]);
    expect([answer.status, statusOf(answer)]).toEqual([200, ['c1 succeeded']]);
    await waitFor(() => client.cancels.length > 0, 'the cancel');
    expect(await client.report(call)).toMatchObject({ ok: false, error: { code: 'CONFLICT' } });
  });

  it('keep a call with its client when that moves from one node to the other', async () => {
    const client = await a!.client();
    await a!.post([createCall('c1'), createCall('c2')], { turnId: 't' });
    await client.delivery(2);
    await a!.untilCall('t', 'c2', 'acknowledged');
    const [first, second] = client.calls;
    client.close();
    const moved = await b!.client({}, [journalEntry(first!, 'running')]);
    // What its journal has goes on; what it lacks is sent again.
    const again = await moved.delivery();
    expect([again.callId, again.attempt]).toEqual([second!.callId, 2]);
    await moved.report(first!);
    await moved.report(again);
    expect(statusOf(await a!.get('t', 20_000))).toEqual(['c1 succeeded', 'c2 succeeded']);
    expect((await a!.steps('c1')).filter((step) => step === 'Forwarded')).toHaveLength(1);
  });

  it('give an unacknowledged call to the client that is left', async () => {
    const gone = await a!.client({ clientId: 'gone' });
    gone.answer = null;
    await a!.post([createCall('c1')], { turnId: 't' });
    await gone.delivery();
    const other = await b!.client({ clientId: 'other' });
    gone.close();
    await waitFor(() => other.calls.length === 1, 'the redelivery');
    expect(other.calls[0]).toMatchObject({ attempt: 2 });
    await other.report(other.calls[0]!);
    expect(statusOf(await b!.get('t', 20_000))).toEqual(['c1 succeeded']);
  });

  it('expire a deadline once and tell the client', async () => {
    const client = await a!.client();
    await b!.post([createCall('c1')], { turnId: 't', timeouts: { approvalMs: 2_000, deliveryMs: 30_000 } });
    await waitFor(() => client.calls.length === 1, 'the delivery');
    const [atA, atB] = await Promise.all([a!.get('t', 20_000), b!.get('t', 20_000)]);
    expect([statusOf(atA), statusOf(atB)]).toEqual([['c1 timed_out'], ['c1 timed_out']]);
    expect((await a!.steps('c1')).filter((step) => step === 'TimedOut')).toHaveLength(1);
    await waitFor(() => client.cancels.length > 0, 'the stop');
    expect(client.cancels[0]).toMatchObject({ reason: 'timed_out' });
  });

  it('answer a request that waits on one node for server calls of the other', async () => {
    const finish = hold(two.servers.a);
    const posted = a!.post([ls('s1'), ls('s2')], { turnId: 't' });
    await posted;
    const waiting = b!.get('t', 20_000);
    finish();
    expect(statusOf(await waiting)).toEqual(['s1 succeeded', 's2 succeeded']);
  });

  it('create one turn from a request sent to both nodes, by its turnId or its key', async () => {
    const key = { 'idempotency-key': 'once' };
    const post = (
      fixture: RelayFixture,
      body: object,
      headers = {},
    ): Promise<Answer<InvokeResult<TurnResult>>> =>
      fixture.server.request(
        'POST',
        fixture.base,
        { waitMs: 0, ...body },
        {
          authorization: `Bearer ${fixture.user.token}`,
          ...headers,
        },
      );
    const toolCalls = [createCall('c1')];
    const named = await Promise.all([a!, b!].map((fixture) => post(fixture, { turnId: 't', toolCalls })));
    const keyed = await Promise.all([a!, b!, a!, b!].map((fixture) => post(fixture, { toolCalls }, key)));
    for (const answers of [named, keyed]) {
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 202));
      expect(new Set(answers.map(({ body }) => body.result.toolCalls[0]!.callId)).size).toBe(1);
    }
    expect(await post(b!, { toolCalls: [createCall('c2')] }, key)).toMatchObject({ status: 409 });
  });
});

describe('two nodes without a bus', () => {
  it('see changes of the other node long before a sweep, and read files of its clients', async () => {
    // Sweeps come after the test has timed out: only the frequent look is left.
    const two = await TwoNodes.open('cut', { catchUpMs: 600_000 });
    await two.begin();
    try {
      const client = await two.a.client();
      for (const turnId of ['t1', 't2', 't3']) {
        const posted = two.b.post([createCall('c1')], { turnId, waitMs: 20_000 });
        await waitFor(() => client.calls.some((call) => call.turnId === turnId), 'the delivery');
        await client.report(client.calls.find((call) => call.turnId === turnId)!);
        expect(statusOf(await posted)).toEqual(['c1 succeeded']);
      }
      const setup = new TextsFixture(two.a);
      const holder = await setup.client('cli', ['proj']);
      holder.giveFile = () => givenFile('disk\n', { source: 'disk' });
      expect(await new TextsFixture(two.b).readFile('proj/a.ts')).toMatchObject({ source: 'disk' });
    } finally {
      await two.end();
      await two.nodes.close();
    }
  });
});

describe('of two nodes,', () => {
  const nodes = onTwoNodes();
  let two: TwoNodes;
  let [a, b]: RelayFixture[] = [];
  beforeEach(() => {
    two = nodes();
    ({ a, b } = two);
  });

  it('a starting node leaves running calls of the others alone', async () => {
    const finish = hold(two.servers.a);
    await a!.post([ls('s1')], { turnId: 't' });
    await two.nodes.start('c');
    await two.nodes.stop(two.servers.b);
    await two.nodes.start('b');
    expect(await a!.calls('t')).toMatchObject({ s1: { status: 'executing' } });
    finish();
    expect(statusOf(await a!.get('t', 20_000))).toEqual(['s1 succeeded']);
  });

  it('a restarted node ends at once the calls that it ran before', async () => {
    hold(two.servers.a);
    await a!.post([ls('s1')], { turnId: 't' });
    await two.nodes.stop(two.servers.a);
    await two.nodes.start('a');
    const { s1 } = await b!.calls('t');
    expect(s1).toMatchObject({ status: 'failed', error: { code: 'INTERNAL_ERROR' } });
  });

  it('one ends the calls of the other after its lease has expired', async () => {
    hold(two.servers.a);
    await a!.post([ls('s1')], { turnId: 't' });
    await two.nodes.stop(two.servers.a);
    two.nodes.clock.aheadMs = 10_000;
    // Several rounds of its sweeps.
    expect(await b!.calls('t', 1_000)).toMatchObject({ s1: { status: 'executing' } });
    two.nodes.clock.aheadMs = 16_000;
    expect(await b!.calls('t', 10_000)).toMatchObject({
      s1: { status: 'failed', error: { code: 'INTERNAL_ERROR' } },
    });
  });

  it('a running node renews its lease, however long a call takes', async () => {
    const finish = hold(two.servers.a);
    await a!.post([ls('s1')], { turnId: 't' });
    const turns = two.servers.a.app.get(OpenTurns, { strict: false });
    const leasedUntil = (): number => turns.all()[0]!.lease!.until;
    for (const aheadMs of [8_000, 16_000]) {
      const before = leasedUntil();
      two.nodes.clock.aheadMs = aheadMs;
      await waitFor(() => leasedUntil() > before + 5_000, 'the renewal');
    }
    expect(await b!.calls('t')).toMatchObject({ s1: { status: 'executing' } });
    finish();
    expect(statusOf(await b!.get('t', 20_000))).toEqual(['s1 succeeded']);
  });

  it('one closes the connection of a client that has connected to the other', async () => {
    const [first, second] = [await a!.client(), await b!.client()];
    await first.closed();
    expect(first.notices).toContain('client:replaced');
    expect(second.connected).toBe(true);
  });

  it('one closes the connections of a member who was removed on the other, with or without a message', async () => {
    const ben = await two.servers.b.register();
    for (const line of ['sound', 'cut'] as const) {
      two.nodes.network.line = line;
      await b!.user.addMember(b!.workspaceId, ben);
      const client = await a!.client({ token: ben.token, clientId: line });
      await b!.user.request('DELETE', `/workspaces/${b!.workspaceId}/members/${ben.id}`);
      await client.closed();
    }
  });

  it('one rejects the tokens of a login that ended on the other, and closes its connections [REQ-8] [RELAY-11]', async () => {
    const ben = await two.servers.b.register();
    await b!.user.addMember(b!.workspaceId, ben);
    const client = await a!.client({ token: ben.token, clientId: 'ben' });
    const { refreshToken } = ben.credentials;
    await two.servers.b.request('POST', '/auth/logout', { refreshToken });
    await client.closed();
    const headers = { authorization: `Bearer ${ben.token}` };
    for (const server of [two.servers.a, two.servers.b]) {
      await waitFor(
        async () => (await server.request('GET', '/workspaces', undefined, headers)).status === 401,
        'the end of the token',
      );
    }
  });

  it('both keep the invariants with random clients and orchestrators and a faulty bus', async () => {
    two.nodes.network.line = 'faulty';
    const random = (): number => two.nodes.network.random();
    const fixtures = [a!, b!];
    const editors = await Promise.all(
      [a!, b!].map((fixture, at) => Editor.open(fixture, fixtures, `e${at}`, random)),
    );
    const turns = Array.from({ length: 24 }, (_, at) => `turn-${at}`);
    for (const turnId of turns) {
      const fixture = fixtures[Math.floor(random() * 2)]!;
      await fixture.post(
        [createCall('c1', `${turnId}-1.txt`), createCall('c2', `${turnId}-2.txt`), ls('s1')],
        {
          turnId,
        },
      );
      if (random() < 0.25) await fixtures[Math.floor(random() * 2)]!.cancel(turnId, 'c2');
      if (random() < 0.3) await editors[Math.floor(random() * 2)]!.move();
    }
    for (const turnId of turns) {
      const { body } = await fixtures[Math.floor(random() * 2)]!.get(turnId, 20_000);
      expect([turnId, body.result.kind]).toEqual([turnId, 'final']);
      for (const { callId, status, toolCallId } of body.result.toolResults) {
        expect([turnId, toolCallId, status]).toEqual([
          turnId,
          toolCallId,
          expect.stringMatching(/succeeded|cancelled/),
        ]);
        if (toolCallId !== 's1' && status === 'succeeded') expect(Editor.effects.get(callId)).toBe(1);
      }
    }
    expect([...Editor.effects.values()].every((count) => count === 1)).toBe(true);
    editors.forEach((editor) => editor.close());
  }, 120_000);
});

/** Holds the server tools of a node until the test lets them run. */
function hold(server: TestServer): () => void {
  const runner = server.app.get(ToolRunner, { strict: false });
  const run = runner.run.bind(runner);
  let letGo: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (letGo = resolve));
  jest.spyOn(runner, 'run').mockImplementation(async (...args) => {
    await held;
    return run(...args);
  });
  return letGo;
}
