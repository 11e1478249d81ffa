import { testFixture } from '../support/fixtures.js';
import { createCall, RelayFixture } from '../support/relay-fixture.js';
import { readTrail } from '../support/invariants.js';

describe('a relayed call', () => {
  const fixture = testFixture(() => RelayFixture.start({ graceMs: 300 }));

  const steps = async (toolCallId: string): Promise<string[]> =>
    (await readTrail(fixture.user, fixture.workspaceId, `&toolCallId=${toolCallId}`)).map(({ name }) => name);

  it('is delivered and executed, and its result is in the same turn [TURN-4] [RELAY-5]', async () => {
    const client = await fixture.client();
    const posted = fixture.post([createCall('c1')], { waitMs: 20_000 });
    const call = await client.delivery();
    expect(call).toMatchObject({
      attempt: 1,
      toolCallId: 'c1',
      name: 'workspace_create_file',
      arguments: { path: 'c1.txt' },
    });
    expect(await client.report(call)).toEqual({ ok: true });
    const { status, body } = await posted;
    expect(status).toBe(200);
    expect(body).toMatchObject({
      successful: true,
      errors: [],
      result: { kind: 'final', status: 'completed', toolCalls: [] },
    });
    expect(body.result.toolResults).toMatchObject([
      { toolCallId: 'c1', status: 'succeeded', error: null, executionMs: 3 },
    ]);
    expect(await steps('c1')).toEqual([
      'Tool.CreateFile.Accepted',
      'Tool.CreateFile.Forwarded',
      'Tool.CreateFile.Acknowledged',
      'Tool.CreateFile.ResultReceived',
    ]);
  });

  it('waits while no client is connected [TURN-4]', async () => {
    const { status, body } = await fixture.post([createCall('c1')]);
    expect(status).toBe(202);
    expect(body.result).toMatchObject({
      kind: 'client_tool_continuation',
      status: 'open',
      toolCalls: [
        { status: 'pending', attempt: 0, clientId: null, arguments: { path: 'c1.txt', content: 'x\n' } },
      ],
    });
    const client = await fixture.client();
    await client.report(await client.delivery());
    const { body: later } = await fixture.get(body.result.turnId, 5_000);
    expect(later.result.toolResults).toMatchObject([{ status: 'succeeded' }]);
  });
});
