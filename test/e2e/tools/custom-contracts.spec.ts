import type { Ack, CustomTool, RelayError } from '@patchbay/protocol';
import { runTests, takes } from '../../support/custom-tools.js';
import { FakeClient, type FakeClientOptions } from '../../support/fake-client.js';
import { suiteFixture, testFixture } from '../../support/fixtures.js';
import { RelayFixture } from '../../support/relay-fixture.js';
import { startTestServer } from '../../support/server.js';

describe('the contract of a custom tool', () => {
  const server = suiteFixture(() => startTestServer());
  const user = suiteFixture(() => server.register());
  const fixture = testFixture(() => RelayFixture.on(server, user));

  /** `err.data` of a handshake that is refused. */
  async function refusal(change: Partial<FakeClientOptions>): Promise<RelayError | undefined> {
    const error = await FakeClient.connect(fixture.clientOptions(change)).then(
      (client) => (client.close(), new Error('was accepted')),
      (reason: Error) => reason,
    );
    return (error as Error & { data?: RelayError }).data;
  }
  const offering = (...customTools: unknown[]): Partial<FakeClientOptions> => ({ auth: { customTools } });
  const change = (client: FakeClient, ...customTools: unknown[]): Promise<Ack> =>
    client.send('tools:changed', { customTools });
  const fieldsOf = async (...tools: unknown[]): Promise<Record<string, string>> =>
    (await refusal(offering(...tools)))?.fields ?? {};

  it('is taken from the handshake and from tools:changed [CUSTOM-1]', async () => {
    const client = await fixture.client(offering(runTests()));
    expect(await change(client, runTests(), runTests({ name: 'ask_user', effect: 'read' }))).toEqual({
      ok: true,
    });
    expect(await change(client)).toEqual({ ok: true });
    const asText = { auth: { customTools: JSON.stringify([runTests()]) } };
    expect(await refusal(asText)).toBeUndefined();
  });

  it('is the only way to offer a tool that is not built in: the tools of a handshake are [CUSTOM-2]', async () => {
    const refused = await refusal({ tools: ['workspace_create_file', 'run_tests'], ...offering(runTests()) });
    expect(refused).toMatchObject({ code: 'VALIDATION_ERROR' });
    expect(Object.keys(refused!.fields!)).toEqual(['tools[1]']);
    expect(refused!.message).toContain('"run_tests"');
  });

  it.each([
    ...['', '1st', 'a b', 'ä', 'x'.repeat(65), '_a', 'a.b', '__proto__'],
    ...[
      'read',
      'workspace_create_file',
      'workspace_anything',
      'get_call_result',
      'unknown',
      'client',
      'server',
    ],
    ...[
      'read-only',
      'create_file',
      'write_patch',
      'Read',
      'UNKNOWN_'.toLowerCase(),
      'create-file',
      'workspace-create-file',
    ],
  ])('has a name of its own: %j is refused by its field [CUSTOM-3]', async (name) => {
    expect(Object.keys(await fieldsOf(runTests(), runTests({ name })))).toEqual(['customTools[1].name']);
  });

  it('has an event name of its own within its client [CUSTOM-3]', async () => {
    const fields = await fieldsOf(runTests(), runTests({ name: 'runTests' }), runTests({ name: 'RunTests' }));
    expect(Object.keys(fields)).toEqual(['customTools[1].name', 'customTools[2].name']);
    expect(Object.keys(await fieldsOf(runTests(), runTests()))).toEqual(['customTools[1].name']);
    expect(await fieldsOf(runTests({ name: 'x'.repeat(64) }), runTests({ name: 'a-b' }))).toEqual({});
  });

  const nested = (depth: number): object => (depth === 0 ? {} : { items: nested(depth - 1) });
  const bad: [string, CustomTool, RegExp][] = [
    ['no object at its root', runTests({ requestSchema: {} }), /type: "object"/],
    ['another draft', takes({ $schema: 'https://json-schema.org/draft/2019-09/schema' }), /\$schema/],
    [
      'a remote reference',
      takes({ properties: { a: { $ref: 'https://example.com/s' } } }),
      /\/properties\/a\/\$ref/,
    ],
    ['a reference to nothing', takes({ properties: { a: { $ref: '#/$defs/none' } } }), /\$defs\/none/],
    ['a nested $id', takes({ properties: { a: { $id: 'https://example.com/s' } } }), /\/properties\/a\/\$id/],
    ['a reference to itself', takes({ $ref: '#' }), /without end/],
    [
      'references in a circle',
      takes({
        allOf: [{ $ref: '#/$defs/a' }],
        $defs: { a: { anyOf: [{ $ref: '#/$defs/b' }] }, b: { $ref: '#/$defs/a' } },
      }),
      /without end/,
    ],
    [
      'a look-ahead',
      takes({ properties: { a: { type: 'string', pattern: '(?=a)b' } } }),
      /\/properties\/a\/pattern/,
    ],
    ['a back-reference', takes({ patternProperties: { '(a)\\1': {} } }), /\/patternProperties/],
    ['a keyword of the wrong type', takes({ properties: { a: { type: 'text' } } }), /\/properties\/a\/type/],
    ['too many levels', takes({ properties: { a: nested(40) } }), /levels/],
    ['too many bytes', takes({ description: 'x'.repeat(33_000) }), /32768 bytes/],
    ['too many keywords', takes({ enum: Array.from({ length: 6_000 }, () => 1) }), /more than 5000/],
  ];
  it.each(bad)('has sound schemas: %s is refused at its place [CUSTOM-4]', async (_, tool, message) => {
    const client = await fixture.client();
    const ack = (await change(client, runTests({ name: 'ask_user' }), tool)) as { error: RelayError };
    expect(ack).toMatchObject({ ok: false, error: { code: 'VALIDATION_ERROR' } });
    expect(ack.error.fields).toEqual({
      'customTools[1].requestSchema': expect.stringMatching(message) as string,
    });
    const { requestSchema: responseSchema } = tool;
    if (responseSchema.type !== 'object') return;
    const other = (await change(client, runTests({ responseSchema }))) as { error: RelayError };
    expect(Object.keys(other.error.fields!)).toEqual(['customTools[0].responseSchema']);
  });

  it('may be of draft-07, recursive, with linear patterns and unknown keywords [CUSTOM-4]', async () => {
    const tree = {
      type: 'object',
      properties: { below: { type: 'array', items: { $ref: '#/$defs/tree' } } },
    };
    const tools = [
      takes({
        $schema: 'http://json-schema.org/draft-07/schema#',
        definitions: { a: {} },
        properties: { a: { $ref: '#/definitions/a' } },
      }),
      runTests({ name: 'tree', requestSchema: { ...tree, $defs: { tree } } }),
      runTests({ name: 'self', requestSchema: { type: 'object', properties: { self: { $ref: '#' } } } }),
      runTests({
        name: 'odd',
        requestSchema: {
          type: 'object',
          'x-hint': 1,
          properties: { p: { pattern: '(a+)+$', format: 'uri' } },
        },
      }),
      runTests({
        name: 'data',
        requestSchema: { type: 'object', default: { $ref: 'http://x', pattern: '(?=' } },
      }),
    ];
    const client = await fixture.client();
    expect(await change(client, ...tools)).toEqual({ ok: true });
  });

  it('counts against the limits of its client and of its user [CUSTOM-4]', async () => {
    const client = await fixture.client();
    const many = Array.from({ length: 129 }, (_, n) => runTests({ name: `t${n}` }));
    expect(await change(client, ...many)).toMatchObject({
      ok: false,
      error: { fields: { customTools: /128/ } },
    });
    expect(await change(client, ...many.slice(1))).toEqual({ ok: true });
    const large = (count: number) =>
      Array.from({ length: count }, (_, n) => runTests({ name: `t${n}`, guidance: 'x'.repeat(60_000) }));
    expect(await change(client, ...large(9))).toMatchObject({
      ok: false,
      error: { code: 'VALIDATION_ERROR' },
    });
    const acks: Ack[] = [];
    for (let n = 0; n < 9; n += 1)
      acks.push(await change(await fixture.client({ clientId: `c${n}` }), ...large(8)));
    expect(acks.slice(0, 8)).toEqual(Array(8).fill({ ok: true }));
    expect(acks[8]).toMatchObject({ ok: false, error: { code: 'TOO_LARGE' } });
  });

  it('may change only so often: what is new counts, and what is known is taken again [CUSTOM-4]', async () => {
    const own = await RelayFixture.on(server, await server.register());
    const client = await own.client();
    const texts = (n: number) =>
      Array.from({ length: 8 }, (_, at) =>
        runTests({ name: `t${at}`, guidance: `${n} ${'x'.repeat(60_000)}` }),
      );
    const acks: Ack[] = [];
    for (let n = 0; n < 20; n += 1) acks.push(await change(client, ...texts(n)));
    const refused = acks.filter(({ ok }) => !ok);
    expect(refused.length).toBeGreaterThan(0);
    expect(acks.slice(0, 16)).toEqual(Array(16).fill({ ok: true }));
    for (const ack of refused) expect(ack).toMatchObject({ error: { code: 'RATE_LIMITED' } });
    expect(await change(client, ...texts(3))).toEqual({ ok: true });
    await own.close();
  });

  it('names every fault of its shape by tool and field', async () => {
    const fields = await fieldsOf(
      { ...runTests(), effect: 'delete', colour: 'red' },
      runTests({ name: 'slow', timeouts: { executionMs: 3_600_001 } }),
    );
    expect(Object.keys(fields).sort()).toEqual(['customTools[0].colour', 'customTools[0].effect']);
    expect(Object.keys(await fieldsOf(runTests({ timeouts: { executionMs: 3_600_001 } })))).toEqual([
      'customTools[0].timeouts.executionMs',
    ]);
  });
});
