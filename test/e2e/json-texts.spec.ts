import type { JsonObject, OpenToolCall, PatchFault, ToolResult } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { testFixture } from '../support/fixtures.js';
import { DOC, patchCall, PatchFixture, replaceTwo, TEXT } from '../support/patch-fixture.js';
import { oneServer } from '../support/server.js';

const NAME = 'workspace_write_patch';

describe('arguments that come as a string of JSON [TURN-30]', () => {
  const server = oneServer();
  const setup = new PatchFixture(server);
  const fixture = testFixture(() => setup.open());
  beforeEach(() => setup.write(`/${DOC}`, TEXT));

  const batch = (): JsonObject => patchCall().arguments as JsonObject;
  const file = (): JsonObject => (batch().files as JsonObject[])[0]!;
  const text = JSON.stringify;

  const post = async (call: object): Promise<{ call: OpenToolCall | ToolResult; warnings: unknown[] }> => {
    const { body } = await fixture.post([call]);
    if (!body.result) throw new Error(JSON.stringify(body));
    const { toolCalls, toolResults } = body.result;
    return { call: [...toolCalls, ...toolResults][0]!, warnings: body.warnings };
  };
  const postPatch = (args: unknown) => post({ toolCallId: 'p', name: NAME, arguments: args });
  const faultsOf = (call: OpenToolCall | ToolResult): PatchFault[] =>
    ((call as ToolResult).error?.details as { faults: PatchFault[] } | undefined)?.faults ?? [];

  it.each<[string, () => unknown, string]>([
    ['files', () => ({ ...batch(), files: text(batch().files) }), '/files'],
    [
      'changes',
      () => ({ ...batch(), files: [{ ...file(), changes: text(file().changes) }] }),
      '/files/0/changes',
    ],
    ['an item of a list', () => ({ ...batch(), files: [text(file())] }), '/files/0'],
    [
      'files, and changes in them',
      () => ({ ...batch(), files: text([{ ...file(), changes: text([replaceTwo()]) }]) }),
      '/files, /files/0/changes',
    ],
    ['all of them', () => text(batch()), 'the arguments'],
    [
      'the lines that are expected',
      () => ({ files: [{ ...file(), changes: [replaceTwo({ expectedOriginalLines: '["two"]' })] }] }),
      '/files/0/changes/0/expectedOriginalLines',
    ],
  ])('are accepted: %s', async (_, args, where) => {
    const { call, warnings } = await postPatch(args());
    expect(call).toMatchObject({ status: 'forwarded', arguments: { files: [{ changes: [replaceTwo()] }] } });
    expect(warnings).toEqual([
      {
        errorCode: 'ARGUMENTS_PARSED',
        message: `${NAME}: ${where} came as a string of JSON, which was parsed. Send the value itself.`,
        details: { toolCallId: 'p' },
      },
    ]);
    expect((await setup.client.delivery()).arguments).toMatchObject({ files: [{ docPath: DOC }] });
  });

  it('cause a warning in every answer about the turn, beside the warnings of its result', async () => {
    const { turnId } = (await fixture.post([{ ...patchCall(), arguments: text(batch()) }])).body.result;
    const call = await setup.client.delivery();
    await setup.client.status(call, 'running');
    await setup.carryOut(call, { [DOC]: TEXT });
    const { body } = await fixture.get(turnId);
    expect(body.result.toolResults).toMatchObject([{ status: 'succeeded' }]);
    expect(body.warnings).toMatchObject([{ errorCode: 'ARGUMENTS_PARSED' }]);
  });

  it.each<[string, (args: string) => object]>([
    ['ours', (args) => ({ toolCallId: 'p', name: 'ls', arguments: args })],
    ['Anthropic’s', (args) => ({ type: 'tool_use', id: 'p', name: 'ls', input: args })],
    ['Gemini’s', (args) => ({ functionCall: { id: 'p', name: 'ls', args } })],
    ['OpenAI’s', (args) => ({ type: 'function', id: 'p', function: { name: 'ls', arguments: text(args) } })],
    [
      'OpenAI’s Responses',
      (args) => ({ type: 'function_call', call_id: 'p', name: 'ls', arguments: text(args) }),
    ],
  ])('are accepted as a whole in %s form, with the place where the JSON is invalid', async (_, callOf) => {
    const { body } = await fixture.post([callOf('{"path": "/repo"}')], { waitMs: 20_000 });
    expect(body.result.toolResults).toMatchObject([{ status: 'succeeded', result: { path: '/repo' } }]);
    expect(body.warnings).toMatchObject([{ errorCode: 'ARGUMENTS_PARSED' }]);
    const broken = await post(callOf('{"path":\n  "/repo" oops}'));
    expect(broken).toMatchObject({ call: { error: { code: 'INVALID_ARGUMENTS' } }, warnings: [] });
    expect((broken.call as ToolResult).error!.message).toContain('line 2, column 11, at "oops}"');
  });

  it('are rejected with line, column and excerpt for each broken string', async () => {
    const cut = text(batch().files).slice(0, -3);
    const [whole] = faultsOf((await postPatch({ files: cut })).call);
    expect(whole).toMatchObject({ code: 'SCHEMA', fileIndex: null });
    expect(whole!.message).toContain(`line 1, column ${cut.length + 1}: it ends too early`);
    const [changes] = faultsOf((await postPatch({ files: [{ ...file(), changes: '[\n{"a":1,}]' }] })).call);
    expect(changes).toMatchObject({ code: 'SCHEMA', fileIndex: 0, docPath: DOC });
    expect(changes!.message).toContain('line 2, column 8, at "}]"');
  });

  it('are rejected when they have another shape, and so are new lines as a string', async () => {
    for (const files of ['{"a":1}', '7', '"[]"', 'none', '[]']) {
      const { call, warnings } = await postPatch({ files });
      expect(faultsOf(call)).toMatchObject([{ code: 'SCHEMA' }]);
      expect(warnings.length).toBe(files === '[]' ? 1 : 0);
    }
    for (const newLines of ['TWO', '["TWO"]']) {
      const { call } = await postPatch({ files: [{ ...file(), changes: [replaceTwo({ newLines })] }] });
      expect(faultsOf(call)).toMatchObject([{ code: 'SCHEMA', changeIndex: 0 }]);
      expect(faultsOf(call)[0]!.message).toContain('newLines must be an array of strings');
    }
  });

  it('are not parsed in arguments that may be strings', async () => {
    const write = { toolCallId: 'w', name: 'write', arguments: { path: '/a.json', content: '{"a":1}' } };
    await fixture.post([write], { waitMs: 20_000 });
    const read = { toolCallId: 'r', name: 'read', arguments: { path: '/a.json' } };
    const { body } = await fixture.post([read], { waitMs: 20_000 });
    expect(body.result.toolResults).toMatchObject([{ result: { content: '{"a":1}' } }]);
  });

  it('are accepted in a direct call too', async () => {
    const call = (tool: string, args: unknown) =>
      fixture.user.post<{ success: boolean; fields?: Record<string, string> }>(`${setup.base()}/tools`, {
        tool,
        args,
      });
    expect(await call('ls', '{"path":"/repo"}')).toMatchObject({ status: 200, body: { success: true } });
    const broken = await call('ls', '{"path"');
    expect(broken).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
    expect(broken.body.fields!.args).toContain('line 1, column 8: it ends too early');
    const running = call(NAME, { files: text(batch().files) });
    const delivered = await setup.client.delivery();
    await setup.client.status(delivered, 'running');
    await setup.carryOut(delivered, { [DOC]: TEXT });
    expect(await running).toMatchObject({ status: 200, body: { success: true } });
    const { body } = await fixture.user.get<string>(`${setup.base()}/contents/${DOC}`);
    expect(sha256(String(body))).toBe(sha256('one\nTWO\nthree\n'));
  });

  it('are rejected when they are too large', async () => {
    const { call } = await postPatch({ files: `[${'1,'.repeat(300_000)}1]` });
    expect(faultsOf(call)).toMatchObject([{ code: 'SCHEMA' }]);
  });
});
