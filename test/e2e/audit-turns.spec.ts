import { testFixture } from '../support/fixtures.js';
import { readTrail } from '../support/invariants.js';
import { failedResult } from '../support/fake-client.js';
import { createCall, RelayFixture } from '../support/relay-fixture.js';
import { oneServer } from '../support/server.js';

describe('the events of a turn as a whole', () => {
  const server = oneServer();
  const fixture = testFixture(async () => RelayFixture.on(server(), await server().register()));

  const invalid = { toolCallId: 'wrong', name: 'nothing', arguments: {} };
  /** Whole names of the turn's own events with what they count, and the steps of its calls. */
  const eventsOf = async (turnId: string): Promise<unknown[]> =>
    (await readTrail(fixture.user, fixture.workspaceId, `&turnId=${turnId}`)).map(({ name, fields }) =>
      name.startsWith('Turn.') ? [name, fields.outcomes ?? fields.callCount] : name.split('.')[2],
    );

  it('come before the events of its calls and after the last of them [AUDIT-11]', async () => {
    const client = await fixture.client();
    const { turnId } = (await fixture.post([createCall('good'), createCall('bad'), invalid])).body.result;
    await client.delivery(2);
    await client.report(client.calls[0]!);
    expect((await eventsOf(turnId)).at(-1)).toBe('ResultReceived');
    await client.report(client.calls[1]!, { result: failedResult(client.calls[1]!, 'FileExists') });
    const events = await eventsOf(turnId);
    expect(events[0]).toEqual(['Turn.Accepted', 3]);
    expect(events.slice(-2)).toEqual(['ResultReceived', ['Turn.Completed', { succeeded: 1, failed: 2 }]]);
    expect(events.filter((event) => typeof event !== 'string')).toHaveLength(2);
  });

  it('come at once when all calls fail at acceptance [AUDIT-11]', async () => {
    const { turnId } = (await fixture.post([invalid])).body.result;
    const accepted = ['Turn.Accepted', 1];
    expect(await eventsOf(turnId)).toEqual([accepted, 'Rejected', ['Turn.Completed', { failed: 1 }]]);
  });

  it('record that the turn was cancelled as a whole, and not when each call was cancelled [AUDIT-11]', async () => {
    const cancelled = ['Cancelled', 'Cancelled'];
    const post = async () => (await fixture.post([createCall('a'), createCall('b')])).body.result.turnId;
    const whole = await post();
    await fixture.cancel(whole);
    expect((await eventsOf(whole)).slice(-3)).toEqual([...cancelled, ['Turn.Cancelled', { cancelled: 2 }]]);
    const each = await post();
    await fixture.cancel(each, 'a');
    await fixture.cancel(each, 'b');
    expect((await eventsOf(each)).slice(-3)).toEqual([...cancelled, ['Turn.Completed', { cancelled: 2 }]]);
  });
});
