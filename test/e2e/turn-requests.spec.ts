import { testFixture } from '../support/fixtures.js';
import { createCall } from '../support/relay-fixture.js';
import { MAX_WAIT_MS, TurnFixture } from '../support/turn-fixture.js';

describe('a posted turn', () => {
  const setup = new TurnFixture();
  const { postAs } = setup;
  const fixture = testFixture(() => setup.open());

  const refusal = (fields: Record<string, string>) => ({
    status: 400,
    body: { code: 'VALIDATION_ERROR', fields, error: expect.any(String) as string },
  });

  it.each([
    ['no calls at all', {}, { toolCalls: 'is required' }],
    ['an empty list', { toolCalls: [] }, { toolCalls: 'must have at least one call' }],
    ['something else than a list', { toolCalls: 'x' }, { toolCalls: expect.any(String) as string }],
    ['a call that is no object', { toolCalls: [null] }, { 'toolCalls[0]': 'must be an object' }],
    [
      'an unknown property of a call',
      { toolCalls: [{ ...createCall('c'), extra: 1 }] },
      { 'toolCalls[0].extra': 'is not a known property' },
    ],
    [
      'a toolCallId twice',
      { toolCalls: [createCall('c'), createCall('d'), createCall('c')] },
      { 'toolCalls[2].toolCallId': 'is the same as that of toolCalls[0]' },
    ],
    [
      'calls without id and name, all named at once',
      { toolCalls: [{}, { type: 'tool_use' }, { type: 'function' }] },
      {
        'toolCalls[0].name': expect.any(String) as string,
        'toolCalls[0].toolCallId': expect.any(String) as string,
        'toolCalls[1].id': expect.any(String) as string,
        'toolCalls[1].name': expect.any(String) as string,
        'toolCalls[2].id': expect.any(String) as string,
        'toolCalls[2].function.name': expect.any(String) as string,
      },
    ],
    [
      'too many calls',
      { toolCalls: Array.from({ length: 6 }, (__, at) => createCall(`c${at}`)) },
      { toolCalls: 'must have at most 5 calls' },
    ],
    [
      'an overlong toolCallId',
      { toolCalls: [createCall('x'.repeat(257))] },
      { 'toolCalls[0].toolCallId': expect.any(String) as string },
    ],
    ['an unknown property', { toolCalls: [createCall('c')], wait: 1 }, { wait: 'is not a known property' }],
    [
      'a negative waitMs',
      { toolCalls: [createCall('c')], waitMs: -1 },
      { waitMs: expect.any(String) as string },
    ],
    [
      'a waitMs over the limit',
      { toolCalls: [createCall('c')], waitMs: MAX_WAIT_MS + 1 },
      { waitMs: `must not be over ${MAX_WAIT_MS}` },
    ],
    [
      'a timeout over its maximum',
      { toolCalls: [createCall('c')], timeouts: { executionMs: 2_001 } },
      { 'timeouts.executionMs': 'must not be over 2000' },
    ],
    [
      'a timeout of nothing',
      { toolCalls: [createCall('c')], timeouts: { deliveryMs: 0 } },
      { 'timeouts.deliveryMs': expect.any(String) as string },
    ],
    [
      'an unknown timeout',
      { toolCalls: [createCall('c')], timeouts: { patienceMs: 1 } },
      { 'timeouts.patienceMs': 'is not a known property' },
    ],
  ])('is rejected with %s [REQ-6] [TURN-1]', async (_, body, fields) => {
    expect(await setup.user.post(fixture.base, { waitMs: 0, ...body })).toMatchObject(refusal(fields));
  });

  it.each(['', 'a b', 'a/b', 'ä', 'x'.repeat(129), 7, '.', '..'])(
    'is rejected with the turnId %j',
    async (turnId) => {
      expect(await fixture.post([createCall('c')], { turnId })).toMatchObject(
        refusal({ turnId: 'must be 1 to 128 of A-Z a-z 0-9 . _ : - and not "." or ".."' }),
      );
    },
  );

  it.each(['a', 'A.z_0:9-', 'x'.repeat(128)])('takes the turnId %j', async (turnId) => {
    expect((await fixture.post([createCall('c')], { turnId })).body.result.turnId).toBe(turnId);
  });

  it('treats null like absent', async () => {
    const request = { turnId: null, waitMs: 0, timeouts: { deliveryMs: null }, toolCalls: [createCall('c')] };
    expect((await setup.user.post(fixture.base, request)).status).toBe(202);
  });

  it('is answered with all of its faults at once, of every kind [REQ-1]', async () => {
    const { status, body } = await fixture.post([{}, { toolCallId: 'c', name: 'x' }, 5], {
      turnId: 'a b',
      mode: 1,
      waitMs: -1,
      timeouts: { deliveryMs: 'soon' },
    });
    expect(status).toBe(400);
    expect(Object.keys((body as unknown as { fields: object }).fields).sort()).toEqual([
      'mode',
      'timeouts.deliveryMs',
      'toolCalls[0].name',
      'toolCalls[0].toolCallId',
      'toolCalls[2]',
      'turnId',
      'waitMs',
    ]);
  });

  it.each(['', 'ä', 'x'.repeat(257)])('is refused with the Idempotency-Key %j', async (key) => {
    const answer = await postAs(Buffer.from(key).toString('latin1'), [createCall('c')]);
    expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
  });
});
