import type { ToolOffer } from '@patchbay/protocol';
import { runCall, runTests, takes } from '../../support/custom-tools.js';
import { type FakeClient, journalEntry } from '../../support/fake-client.js';
import { RelayFixture } from '../../support/relay-fixture.js';
import { startTestServer } from '../../support/server.js';
import { onTwoNodes, type TwoNodes } from '../../support/two-nodes.js';
import { waitFor } from '../../support/wait-for.js';

const passed = { executionMs: 1, result: { passed: 3 } };
const withTool = (fixture: RelayFixture, ...customTools: object[]) =>
  fixture.client({ clientId: 'laptop', tools: [], auth: { customTools } });
const codeOf = async (fixture: RelayFixture, turnId: string): Promise<string | null> => {
  const call = (await fixture.calls(turnId)).r!;
  return 'error' in call ? (call.error?.code ?? null) : null;
};

describe.each(['sound', 'cut'] as const)('a custom tool on two nodes with a %s bus', (line) => {
  const nodes = onTwoNodes(line);
  let two: TwoNodes;
  beforeEach(() => (two = nodes()));

  it('is listed and called on the other node [CUSTOM-5]', async () => {
    const client = await withTool(two.a, runTests());
    const { user, workspaceId, session } = two.b;
    const path = `/workspaces/${workspaceId}/tools?sessionId=${session.sessionId}`;
    const { body } = await user.get<{ offeredBy: Record<string, ToolOffer> }>(path);
    expect(body.offeredBy).toEqual({ run_tests: { clientId: 'laptop', name: 'test', isConnected: true } });
    await two.b.post([runCall()], { turnId: 't' });
    await client.report(await client.delivery(), passed);
    await waitFor(async () => (await two.b.calls('t')).r!.status === 'succeeded', 'the result');
  });

  it('ends its calls as TOOL_GONE if the client comes back to the other node without it [CUSTOM-9]', async () => {
    const client = await withTool(two.a, runTests());
    await two.a.post([runCall()], { turnId: 't' });
    const call = await client.delivery();
    client.close();
    const fixture = two.b;
    const entries = [journalEntry(call, 'acknowledged')];
    const auth = { customTools: [takes({})] };
    const back = await fixture.client({ clientId: 'laptop', tools: [], auth }, entries);
    await waitFor(async () => (await codeOf(two.b, 't')) === 'TOOL_GONE', 'the end');
    await waitFor(async () => (await codeOf(two.a, 't')) === 'TOOL_GONE', 'the end on the first node');
    await waitFor(() => back.cancels.length > 0, 'the cancel');
    expect(back.cancels).toEqual([{ callId: call.callId, reason: 'gone' }]);
  });
});

describe('a call of a custom tool whose server restarts', () => {
  it('is checked under its contract, and goes on if the client offers it again [CUSTOM-7]', async () => {
    const first = await RelayFixture.start();
    const client: FakeClient = await withTool(first, runTests());
    const { turnId } = (await first.post([runCall()])).body.result;
    const call = await client.delivery();
    await first.untilCall(turnId, 'r', 'acknowledged');
    await first.server.app.close();
    const server = await startTestServer({ config: { dataDir: first.server.dataDir } });
    const fixture = first.movedTo(server);
    const auth = { customTools: [runTests({ description: 'Changed.' })] };
    const entries = [journalEntry(call, 'acknowledged')];
    const back = await fixture.client({ clientId: 'laptop', tools: [], auth }, entries);
    expect(await back.report(call, { result: { passed: '3' } })).toMatchObject({ ok: false });
    expect(await back.report(call, passed)).toEqual({ ok: true });
    expect((await fixture.calls(turnId)).r!.status).toBe('succeeded');
    await fixture.close();
    await server.close();
    await first.server.close();
  });
});
