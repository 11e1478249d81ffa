import type { ToolResult } from '@patchbay/protocol';
import { createdResult, journalEntry } from '../support/fake-client.js';
import { createCall, RelayFixture } from '../support/relay-fixture.js';
import { startTestServer, type TestServer } from '../support/server.js';

const KIB = 1024;
/** Two characters of JSON each, some of three bytes or four. */
const text = (kib: number): string => '"€\n😀xx'.repeat((kib * KIB) / 8);

const write = (toolCallId: string, content: string) => ({
  ...{ toolCallId, name: 'write' },
  arguments: { path: `/${toolCallId}.txt`, content: { text: content } },
});
const read = (toolCallId: string, path: string) => ({ toolCallId, name: 'read', arguments: { path } });

describe('a turn with large arguments beside small ones', () => {
  const [some, much, most] = [text(100), text(1500), text(3000)];
  /** A restart takes away what a server has in memory. */
  const servers: TestServer[] = [];
  afterEach(async () => {
    for (const server of servers.reverse()) await server.close();
  });

  async function restarted(fixture: RelayFixture): Promise<RelayFixture> {
    await fixture.server.app.close();
    const server = await startTestServer({ config: { dataDir: fixture.server.dataDir } });
    servers.push(server);
    return fixture.movedTo(server);
  }

  it('runs every call with its exact arguments and returns the exact results, also after a restart [TURN-2] [RELAY-5]', async () => {
    const server = await startTestServer();
    servers.push(server);
    const first = await RelayFixture.on(server, await server.register());
    const before = await first.client({ maxInFlight: 1 });
    const posted = [
      createCall('small', 'small.txt'),
      write('w-some', some),
      createCall('much', 'much.txt', much),
      write('w-much', much),
      read('r-much', '/w-much.txt'),
      createCall('most', 'most.txt', most),
      { toolCallId: 'list', name: 'ls', arguments: { path: '/' } },
      createCall('some', 'some.txt', some),
    ];
    const { turnId } = (await first.post(posted)).body.result;
    for (const id of ['w-some', 'w-much', 'r-much', 'list']) await first.untilCall(turnId, id, 'succeeded');
    const given = (toolCallId: string) => posted.find((call) => call.toolCallId === toolCallId)!.arguments;
    const small = await before.delivery();
    expect(small.arguments).toEqual(given('small'));
    expect(await before.report(small)).toMatchObject({ ok: true });
    const held = await before.delivery(2);
    expect(held.arguments).toEqual(given('much'));
    await before.status(held, 'running');
    expect((await first.calls(turnId)).most).toMatchObject({ arguments: given('most') });

    const fixture = await restarted(first);
    const open = (await fixture.get(turnId)).body.result.toolCalls;
    expect(open.map(({ arguments: args }) => args)).toEqual(['much', 'most', 'some'].map(given));
    const after = await fixture.client({ maxInFlight: 1 }, [journalEntry(held, 'running')]);
    const message = text(300);
    expect(await after.report(held, { result: { ...createdResult(held), message } })).toMatchObject({
      ok: true,
    });
    for (const [at, id] of ['most', 'some'].entries()) {
      const call = await after.delivery(at + 1);
      expect(call).toMatchObject({ toolCallId: id, arguments: given(id) });
      expect(await after.report(call)).toMatchObject({ ok: true });
    }
    [before, after].forEach((client) => client.close());
    const ended = (await fixture.get(turnId, 2_000)).body.result;
    expect(ended.kind).toBe('final');
    const results = new Map(
      ended.toolResults.map((result): [string, ToolResult] => [result.toolCallId, result]),
    );
    expect([...results.keys()]).toEqual(posted.map(({ toolCallId }) => toolCallId));
    expect([...results.values()].map(({ status }) => status)).toEqual(posted.map(() => 'succeeded'));
    expect(results.get('much')!.result).toMatchObject({ message });
    expect(JSON.stringify(results.get('r-much')!.result)).toContain(JSON.stringify(much).slice(1, -1));
    const again = (await (await restarted(fixture)).get(turnId)).body.result;
    expect(again).toEqual(ended);
  });

  it('has the same results in the messages of a provider format', async () => {
    const server = await startTestServer();
    servers.push(server);
    const fixture = await RelayFixture.on(server, await server.register());
    const calls = [write('w', much), read('r', '/w.txt')];
    const { body } = await fixture.post(calls, { waitMs: 20_000, resultFormat: 'openai' });
    const { toolResults, messages } = body.result;
    const contents = (messages as { content: string }[]).map(({ content }) => JSON.parse(content) as unknown);
    expect(contents).toEqual(toolResults.map(({ result }) => result));
    expect(JSON.stringify(contents[1])).toContain(JSON.stringify(much).slice(1, -1));
  });
});
