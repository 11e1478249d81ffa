import { testFixture } from '../support/fixtures.js';
import { createCall } from '../support/relay-fixture.js';
import { TurnFixture } from '../support/turn-fixture.js';

describe('a posted turn', () => {
  const setup = new TurnFixture();
  const { postAs } = setup;
  const fixture = testFixture(() => setup.open());

  it('is the same turn when repeated under its turnId, whatever the order of keys, form or waitMs [TURN-3]', async () => {
    const first = await fixture.post([createCall('c', 'a', 'b')], { turnId: 't' });
    const again = await fixture.post(
      [
        {
          id: 'c',
          type: 'function',
          function: { name: 'workspace_create_file', arguments: '{"content":"b","path":"a"}' },
        },
      ],
      { turnId: 't', timeouts: {}, waitMs: 1 },
    );
    expect(again).toMatchObject({ status: 202, body: first.body });
    expect(await fixture.steps('c')).toEqual(['Accepted']);
  });

  it.each([
    ['other calls', { toolCalls: [createCall('other')] }],
    ['other timeouts', { timeouts: { deliveryMs: 5 } }],
  ])('is a conflict when repeated under its turnId with %s [TURN-3]', async (_, change) => {
    await fixture.post([createCall('c')], { turnId: 't' });
    const again = await setup.user.post(fixture.base, {
      toolCalls: [createCall('c')],
      turnId: 't',
      waitMs: 0,
      ...change,
    });
    expect(again).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
  });

  it('is a different turn under the same turnId in another session', async () => {
    const first = (await fixture.post([createCall('c')], { turnId: 't' })).body.result;
    await fixture.newSession();
    const second = (await fixture.post([createCall('c')], { turnId: 't' })).body.result;
    expect(second.toolCalls[0]!.callId).not.toBe(first.toolCalls[0]!.callId);
  });

  it('is the same turn under the same Idempotency-Key, and a conflict with other calls or in another session [TURN-3]', async () => {
    const first = await postAs('k', [createCall('c')]);
    expect((await postAs('k', [createCall('c')])).body).toEqual(first.body);
    expect(await postAs('k', [createCall('d')])).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
    await fixture.newSession();
    expect(await postAs('k', [createCall('c')])).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
  });

  it('is a conflict when key and turnId name different turns [TURN-3]', async () => {
    const first = (await postAs('k', [createCall('c')], { turnId: 'a' })).body.result;
    await fixture.post([createCall('c')], { turnId: 'b' });
    const conflict = { status: 409, body: { code: 'CONFLICT' } };
    expect(await postAs('k', [createCall('c')], { turnId: 'b' })).toMatchObject(conflict);
    expect(await postAs('k', [createCall('c')], { turnId: 'new' })).toMatchObject(conflict);
    expect((await postAs('k', [createCall('c')], { turnId: 'a' })).body.result).toEqual(first);
    expect((await postAs('k', [createCall('c')])).body.result).toEqual(first);
  });

  it('is created once when posted several times concurrently', async () => {
    const client = await fixture.client();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => postAs('k', [createCall('c')], { turnId: 't' })),
    );
    const callIds = answers.map(({ body }) => body.result.toolCalls[0]!.callId);
    expect(new Set(callIds).size).toBe(1);
    await client.report(await client.delivery());
    expect(client.calls).toHaveLength(1);
    // The window is whole again: as many calls as it holds can go out.
    const { body } = await fixture.post(['1', '2', '3', '4', '5'].map((id) => createCall(id)));
    await client.delivery(6);
    await fixture.cancel(body.result.turnId);
  });
});
