import type { CustomTool, ToolContract } from '@patchbay/protocol';
import { runCall, runTests, takes } from '../../support/custom-tools.js';
import { aRoot, type FakeClient, journalEntry } from '../../support/fake-client.js';
import { suiteFixture, testFixture } from '../../support/fixtures.js';
import { readTrail } from '../../support/invariants.js';
import { RelayFixture } from '../../support/relay-fixture.js';
import { startTestServer } from '../../support/server.js';
import { waitFor } from '../../support/wait-for.js';

const graceMs = 300;

describe('a custom tool', () => {
  const server = suiteFixture(() => startTestServer({ config: { graceMs, jobMs: 1_500 } }));
  const user = suiteFixture(() => server.register());
  const fixture = testFixture(() => RelayFixture.on(server, user));

  const withTools = (clientId: string, ...customTools: CustomTool[]) =>
    fixture.client({ clientId, tools: [], auth: { customTools } });
  const change = (client: FakeClient, ...customTools: CustomTool[]) =>
    client.send('tools:changed', { customTools });
  type List = { tools: Record<string, never>[]; offeredBy: Record<string, object> };
  const list = async (query: string): Promise<List> =>
    (await fixture.user.get<List>(`/workspaces/${fixture.workspaceId}/tools?${query}`)).body;
  const ofSession = (format = 'neutral') => list(`format=${format}&sessionId=${fixture.session.sessionId}`);
  const posted = async (...calls: object[]) => (await fixture.post(calls)).body.result.turnId;
  const ended = async (turnId: string, id = 'r') => {
    await waitFor(async () => 'endedAt' in (await fixture.calls(turnId))[id]!, `the end of ${id}`);
    return (await fixture.calls(turnId))[id] as unknown as {
      status: string;
      result: unknown;
      error: { code: string; message: string } | null;
    };
  };
  const passed = { executionMs: 1, result: { passed: 3 } };
  const expire = () => new Promise((resolve) => setTimeout(resolve, graceMs + 200));

  it('is in the catalog of the sessions of its user, with the client that offers it [CUSTOM-5]', async () => {
    const client = await withTools('laptop', runTests({ title: 'Tests', guidance: '# run' }));
    const offer = { clientId: 'laptop', name: 'test', isConnected: true };
    const { tools, offeredBy } = await ofSession();
    expect(tools.at(-1)).toMatchObject({
      name: 'run_tests',
      category: 'custom',
      executionLocation: 'client',
      effect: 'execute',
      guidance: '# run',
    });
    expect(offeredBy).toEqual({ run_tests: offer });
    for (const format of ['openai', 'openai-responses', 'anthropic', 'gemini', 'mcp']) {
      const listed = await ofSession(format);
      expect(JSON.stringify(listed.tools.at(-1))).toContain('"run_tests"');
      expect(listed.offeredBy).toEqual({ run_tests: offer });
      expect((listed.tools.at(-1) as { _meta?: object })._meta).toEqual(
        format === 'mcp' ? { offeredBy: offer } : undefined,
      );
    }
    expect((await list('')).offeredBy).toEqual({});
    client.close();
    await waitFor(
      async () => JSON.stringify((await ofSession()).offeredBy).includes('false'),
      'the client left',
    );
    await expire();
    expect((await ofSession()).offeredBy).toEqual({});
  });

  it('is not in the catalog while its client says that it is not available, and its calls wait [CUSTOM-5]', async () => {
    const client = await withTools('laptop', runTests({ isAvailable: false }));
    expect((await ofSession()).offeredBy).toEqual({});
    const turnId = await posted(runCall());
    expect((await fixture.calls(turnId)).r!.status).toBe('pending');
    await change(client, runTests());
    await client.report(await client.delivery(), passed);
    expect((await ended(turnId)).status).toBe('succeeded');
  });

  it('stands for the contract of the session’s client, else of the one that connected last [CUSTOM-6]', async () => {
    const [one, two] = [runTests({ description: 'one', effect: 'read' }), runTests({ description: 'two' })];
    const first = await withTools('first', one);
    await new Promise((resolve) => setTimeout(resolve, 5));
    const second = await withTools('second', two);
    const description = async () => ((await ofSession()).tools.at(-1) as unknown as ToolContract).description;
    expect(await description()).toBe('two');
    await fixture.newSession('first');
    expect(await description()).toBe('one');
    const turnId = await posted(runCall());
    await first.report(await first.delivery(), passed);
    expect((await ended(turnId)).status).toBe('succeeded');
    expect(second.calls).toEqual([]);
  });

  it('may be named by a session before a client brings it [SESSION-1]', async () => {
    const path = `/workspaces/${fixture.workspaceId}/sessions`;
    fixture.session = (
      await fixture.user.post<typeof fixture.session>(path, { tools: ['read', 'run_tests'] })
    ).body;
    const names = async () => (await ofSession()).tools.map(({ name }) => String(name));
    expect(await names()).toEqual(['read']);
    await withTools('laptop', runTests(), runTests({ name: 'other' }));
    expect(await names()).toEqual(['read', 'run_tests']);
  });

  it('is called, relayed, checked and recorded under its own event name [CUSTOM-7] [AUDIT-5]', async () => {
    const client = await withTools('laptop', runTests({ category: 'run' }));
    const turnId = await posted(runCall(), runCall('bad', { filter: 'NOT THIS', more: 1 }));
    const call = await client.delivery();
    expect(call).toMatchObject({ name: 'run_tests', arguments: { filter: 'unit/' } });
    await client.status(call, 'awaiting_approval');
    await client.status(call, 'running');
    expect(await client.report(call, { result: { passed: 'three' } })).toMatchObject({
      ok: false,
      error: { code: 'VALIDATION_ERROR', message: expect.stringContaining('/passed') as string },
    });
    expect(await client.report(call, { result: { passed: 3, path: 'secret', hash: 'secret' } })).toEqual({
      ok: true,
    });
    expect(await ended(turnId)).toMatchObject({ status: 'succeeded', result: { passed: 3 } });
    const bad = await ended(turnId, 'bad');
    expect(bad.error).toMatchObject({ code: 'INVALID_ARGUMENTS' });
    expect(bad.error!.message).toContain('/filter');
    const trail = await readTrail(fixture.user, fixture.workspaceId, '&toolCallId=r');
    expect(trail.map(({ name }) => name)).toEqual([
      ...['Tool.RunTests.Accepted', 'Tool.RunTests.Forwarded', 'Tool.RunTests.Acknowledged'],
      ...['Tool.RunTests.AwaitingApproval', 'Tool.RunTests.Running', 'Tool.RunTests.ResultReceived'],
    ]);
    expect(JSON.stringify(trail)).not.toMatch(/secret|unit/);
  });

  it('tests each value against its own pattern [CUSTOM-4]', async () => {
    const only = (pattern: string) => ({ type: 'string', pattern });
    const client = await withTools('laptop', takes({ properties: { a: only('^a$'), b: only('^b$') } }));
    const turnId = await posted(runCall('good', { a: 'a', b: 'b' }), runCall('bad', { a: 'a', b: 'a' }));
    expect((await client.delivery()).toolCallId).toBe('good');
    expect((await ended(turnId, 'bad')).error!.code).toBe('INVALID_ARGUMENTS');
  });

  it('fails alone if its arguments take too long to check [CUSTOM-4]', async () => {
    const client = await withTools('laptop', takes({ properties: { a: { uniqueItems: true } } }));
    const many = Array.from({ length: 30_000 }, (_, n) => ({ n }));
    const turnId = await posted(runCall('good', { a: [1] }), runCall('bad', { a: many }));
    expect((await client.delivery()).toolCallId).toBe('good');
    const { error } = await ended(turnId, 'bad');
    expect(error!.message).toContain('too much time');
  });

  it('is called over POST tools, and takes JSON texts for lists [CUSTOM-7] [TURN-30]', async () => {
    const client = await withTools(
      'laptop',
      runTests({ requestSchema: { type: 'object', properties: { files: { type: 'array' } } } }),
    );
    const { sessionId } = fixture.session;
    const answer = fixture.user.post<object>(`/workspaces/${fixture.workspaceId}/tools`, {
      ...{ tool: 'run_tests', args: { files: '["a"]' }, sessionId },
    });
    const call = await client.delivery();
    expect(call.arguments).toEqual({ files: ['a'] });
    await client.report(call, passed);
    expect((await answer).body).toMatchObject({ success: true, result: { passed: 3 } });
  });

  it('gives content blocks, null, or an error that ends its call as TOOL_ERROR [CUSTOM-7]', async () => {
    const { responseSchema: _none, ...free } = runTests({ name: 'free' });
    const client = await withTools('laptop', runTests(), free);
    const turnId = await posted(
      ...['a', 'b', 'c'].map((id) => runCall(id)),
      runCall('d', { filter: '' }, 'free'),
    );
    const text = (words: string) => ({ content: [{ type: 'text', text: words }] });
    const results = [
      text('fine'),
      { ...text('broken'), isError: true },
      { ...text('x'), structuredContent: { passed: 1 } },
      null,
    ];
    for (const [at, result] of results.entries())
      expect(await client.report(await client.delivery(at + 1), { result })).toEqual({ ok: true });
    expect((await ended(turnId, 'a')).status).toBe('succeeded');
    expect(await ended(turnId, 'b')).toMatchObject({
      status: 'failed',
      result: { isError: true },
      error: { code: 'TOOL_ERROR', message: 'broken' },
    });
    expect((await ended(turnId, 'c')).status).toBe('succeeded');
    expect(await ended(turnId, 'd')).toMatchObject({ status: 'succeeded', result: null });
  });

  it('goes to its client whatever folder that has, and leaves the folder of the session alone [CUSTOM-8]', async () => {
    const editor = await fixture.client({ clientId: 'editor', roots: [aRoot('proj')] });
    const runner = await withTools('runner', runTests());
    const first = await posted(runCall());
    await runner.report(await runner.delivery(), passed);
    await ended(first);
    await posted({
      toolCallId: 'f',
      name: 'workspace_create_file',
      arguments: { path: 'proj/a.txt', content: 'a' },
    });
    expect((await editor.delivery()).name).toBe('workspace_create_file');
    await posted(runCall('again'));
    expect((await runner.delivery(2)).toolCallId).toBe('again');
    await fixture.newSession('editor');
    await posted(runCall('bound'));
    expect((await runner.delivery(3)).toolCallId).toBe('bound');
  });

  it('is unknown after the grace, and the error says who offered it last [CUSTOM-9]', async () => {
    (await withTools('laptop', runTests())).close();
    await expire();
    const { error } = await ended(await posted(runCall()));
    expect(error).toMatchObject({ code: 'UNKNOWN_TOOL' });
    expect(error!.message).toContain('"test" (laptop) offered it last');
  });

  it('ends its calls as TOOL_GONE if the client comes back without the contract [CUSTOM-9]', async () => {
    const client = await withTools('laptop', runTests());
    const turnId = await posted(runCall('held'), runCall('runs'));
    const [held, runs] = [await client.delivery(1), await client.delivery(2)];
    await client.status(held, 'awaiting_approval');
    await client.status(runs, 'running');
    client.close();
    const waiting = await posted(runCall('waits'));
    const entries = [journalEntry(held, 'awaiting_approval'), journalEntry(runs, 'running')];
    const back = await fixture.client(
      { clientId: 'laptop', tools: [], auth: { customTools: [takes({})] } },
      entries,
    );
    expect((await ended(turnId, 'held')).error!.code).toBe('TOOL_GONE');
    expect((await ended(waiting, 'waits')).error!.code).toBe('TOOL_GONE');
    await waitFor(() => back.cancels.length > 0, 'the cancel');
    expect(back.cancels).toEqual([{ callId: held.callId, reason: 'gone' }]);
    expect((await fixture.calls(turnId)).runs!.status).toBe('running');
    expect(await back.report(runs, passed)).toEqual({ ok: true });
    expect(back.calls).toEqual([]);
  });

  it('keeps its calls if only its texts have changed while the client was away [CUSTOM-9]', async () => {
    const client = await withTools('laptop', runTests());
    const turnId = await posted(runCall());
    const call = await client.delivery();
    client.close();
    const other = runTests({
      description: 'Better.',
      guidance: '# new',
      title: 'New',
      timeouts: { executionMs: 5 },
    });
    const { requestSchema, ...rest } = other;
    const reordered = { requestSchema: Object.fromEntries(Object.entries(requestSchema).reverse()), ...rest };
    const auth = { customTools: [reordered] };
    const back = await fixture.client({ clientId: 'laptop', tools: [], auth }, [
      journalEntry(call, 'acknowledged'),
    ]);
    expect((await ofSession()).tools.at(-1)).toMatchObject({ description: 'Better.', guidance: '# new' });
    expect((await fixture.calls(turnId)).r!.status).toBe('acknowledged');
    expect(await back.report(call, passed)).toEqual({ ok: true });
  });

  it('moves its calls to another client with the same contract, and the holder learns it [CUSTOM-9]', async () => {
    const holder = await withTools('holder', runTests());
    const turnId = await posted(runCall());
    const held = await holder.delivery();
    await holder.status(held, 'awaiting_approval');
    const other = await withTools('other', runTests({ description: 'The same.' }));
    expect(await change(holder)).toEqual({ ok: true });
    const moved = await other.delivery();
    expect(moved).toMatchObject({ callId: held.callId, attempt: 2 });
    await waitFor(() => holder.cancels.length > 0, 'the cancel');
    expect(holder.cancels).toEqual([{ callId: held.callId, reason: 'moved' }]);
    await other.report(moved, passed);
    expect((await ended(turnId)).status).toBe('succeeded');
  });

  it('is announced before the resume too, and judged when that is answered [CUSTOM-1] [RELAY-3]', async () => {
    const client = await withTools('laptop', runTests());
    const turnId = await posted(runCall());
    const call = await client.delivery();
    client.close();
    const { FakeClient: Client } = await import('../../support/fake-client.js');
    const back = await Client.connect(fixture.clientOptions({ clientId: 'laptop', tools: [] }));
    fixture.clients.push(back);
    const [changed, resumed] = await Promise.all([
      change(back, runTests()),
      back.resume([journalEntry(call, 'acknowledged')]),
    ]);
    expect([changed.ok, resumed.ok]).toEqual([true, true]);
    expect((await fixture.calls(turnId)).r!.status).toBe('acknowledged');
    expect(await back.report(call, passed)).toEqual({ ok: true });
  });

  it('has timeouts of its own, and those of a turn win [CUSTOM-10]', async () => {
    const client = await withTools(
      'laptop',
      runTests({ timeouts: { executionMs: 60_000, approvalMs: 70_000 } }),
    );
    const execution = async (timeouts?: object) => {
      const count = client.calls.length + 1;
      const { body } = await fixture.post([runCall()], { ...(timeouts && { timeouts }) });
      const call = await client.delivery(count);
      await client.status(call, 'running');
      const { deadlines } = (await fixture.calls(body.result.turnId)).r as unknown as {
        deadlines: { executionAt: string };
      };
      await client.report(call, passed);
      return Math.round((Date.parse(deadlines.executionAt) - Date.now()) / 10_000);
    };
    expect(await execution()).toBe(6);
    expect(await execution({ executionMs: 30_000 })).toBe(3);
  });
});
