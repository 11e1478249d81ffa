import type { Json } from '@patchbay/protocol';
import { createdResult } from '../support/fake-client.js';
import { suiteFixture, testFixture } from '../support/fixtures.js';
import { createCall, RelayFixture } from '../support/relay-fixture.js';
import { startTestServer } from '../support/server.js';

const created = (path: string): Json => createdResult({ arguments: { path } });

describe('results over HTTP', () => {
  const server = suiteFixture(() => startTestServer());
  const user = suiteFixture(() => server.register());
  const fixture = testFixture(() => RelayFixture.on(server, user));

  const post = async (...ids: string[]): Promise<string> =>
    (await fixture.post(ids.map((id) => createCall(id)))).body.result.turnId;
  const approval = { decision: 'deny', by: 'ada', at: '2025-06-01T12:00:00Z', note: 'not there' };

  it('end calls that no client has taken', async () => {
    const turnId = await post('a', 'b');
    const half = await fixture.postResults(turnId, [
      { toolCallId: 'a', result: created('a.txt'), executionMs: 9 },
    ]);
    expect(half).toMatchObject({ status: 202, body: { result: { toolCalls: [{ toolCallId: 'b' }] } } });
    const { status, body } = await fixture.postResults(turnId, [{ toolCallId: 'b', result: null, approval }]);
    expect(status).toBe(200);
    expect(body.result.toolResults).toMatchObject([
      { toolCallId: 'a', status: 'succeeded', result: created('a.txt'), executionMs: 9 },
      { toolCallId: 'b', status: 'denied', result: null, error: { code: 'DENIED', message: 'not there' } },
    ]);
  });

  it('end a call of a client, which is told to stop', async () => {
    const client = await fixture.client({ maxInFlight: 1 });
    const turnId = await post('a', 'b');
    const call = await client.delivery();
    await fixture.postResults(turnId, [{ toolCallId: 'a', result: created('a.txt') }]);
    expect(client.cancels).toEqual([{ callId: call.callId, reason: 'cancelled' }]);
    expect((await client.delivery(2)).toolCallId).toBe('b');
    expect(await client.report(call, { result: created('elsewhere.txt') })).toMatchObject({
      ok: false,
      error: { code: 'CONFLICT' },
    });
  });

  it('are accepted all or none [TURN-8]', async () => {
    const turnId = await post('a', 'b', 'c');
    const refused = await fixture.postResults(turnId, [
      { toolCallId: 'a', result: created('a.txt') },
      { toolCallId: 'b', result: { success: true } },
      { toolCallId: 'x', result: created('x.txt') },
      { toolCallId: 'a', result: created('a.txt') },
    ]);
    expect(refused).toMatchObject({
      status: 400,
      body: {
        code: 'VALIDATION_ERROR',
        fields: {
          'results[1].result': expect.stringContaining('/message is required') as string,
          'results[2].toolCallId': 'is not a call of this turn',
          'results[3].toolCallId': 'occurs twice',
        },
      },
    });
    await fixture.cancel(turnId, 'c');
    const both = [
      { toolCallId: 'a', result: created('a.txt') },
      { toolCallId: 'c', result: created('c.txt') },
    ];
    expect(await fixture.postResults(turnId, both)).toMatchObject({
      status: 409,
      body: { code: 'LATE_RESULT' },
    });
    const calls = await fixture.calls(turnId);
    expect([calls.a!.status, calls.b!.status, calls.c!.status]).toEqual(['pending', 'pending', 'cancelled']);
    expect(await fixture.steps('a')).toEqual(['Accepted']);
    expect(await fixture.steps('c')).toEqual(['Accepted', 'Cancelled', 'LateResult']);
  });

  it('may be repeated unchanged and are rejected when changed', async () => {
    const turnId = await post('a');
    const results = [{ toolCallId: 'a', result: created('a.txt'), executionMs: 1 }];
    const first = await fixture.postResults(turnId, results);
    const again = await fixture.postResults(turnId, [{ ...results[0], executionMs: 2 }]);
    expect(again).toMatchObject({ status: 200, body: first.body });
    const other = await fixture.postResults(turnId, [{ toolCallId: 'a', result: created('b.txt') }]);
    expect(other).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
    expect((await fixture.steps('a')).slice(1)).toEqual(['ResultReceived', 'DuplicateResult', 'LateResult']);
  });

  it('for calls that run on the server are rejected', async () => {
    const { turnId } = (await fixture.post([createCall('a'), { toolCallId: 'bad', name: 'nothing' }])).body
      .result;
    expect(await fixture.postResults(turnId, [{ toolCallId: 'bad', result: {} }])).toMatchObject({
      status: 400,
      body: { fields: { 'results[0].toolCallId': expect.any(String) as string } },
    });
  });

  it.each([
    ['no results', undefined, { results: 'is required' }],
    ['no list', {}, { results: 'must be an array' }],
    [
      'an unknown property',
      [{ toolCallId: 'a', outcome: 1 }],
      { 'results[0].outcome': 'is not a known property' },
    ],
    ['no toolCallId', [{ result: null }], { 'results[0].toolCallId': 'is required' }],
    [
      'a decision that is none',
      [{ toolCallId: 'a', approval: { ...approval, decision: 'maybe' } }],
      { 'results[0].approval.decision': expect.any(String) as string },
    ],
  ])('with %s are rejected', async (_, results, fields) => {
    const turnId = await post('a');
    expect(await fixture.postResults(turnId, results)).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_ERROR', fields },
    });
  });
});
