import type { JsonObject, OpenToolCall, PatchFault, ToolResult } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { DOC, patchCall, PatchFixture, replaceTwo, TEXT } from '../support/patch-fixture.js';
import { type RelayFixture } from '../support/relay-fixture.js';
import { oneServer } from '../support/server.js';

const NAME = 'workspace_write_patch';

describe('arguments that come as a string of JSON [TURN-30]', () => {
  const server = oneServer();
  const setup = new PatchFixture(server);
  let fixture: RelayFixture;
  beforeEach(async () => {
    ({ fixture } = await setup.open());
    await setup.write(`/${DOC}`, TEXT);
  });
  afterEach(() => fixture.close());

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
  ])('are taken: %s', async (_, args, where) => {
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

  it('are warned of for as long as the turn is told, beside what its result is warned of', async () => {
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
  ])('are taken as a whole in %s form, and told where they stop being JSON', async (_, callOf) => {
    const { body } = await fixture.post([callOf('{"path": "/repo"}')], { waitMs: 5_000 });
    expect(body.result.toolResults).toMatchObject([{ status: 'succeeded', result: { path: '/repo' } }]);
    expect(body.warnings).toMatchObject([{ errorCode: 'ARGUMENTS_PARSED' }]);
    const broken = await post(callOf('{"path":\n  "/repo" oops}'));
    expect(broken).toMatchObject({ call: { error: { code: 'INVALID_ARGUMENTS' } }, warnings: [] });
    expect((broken.call as ToolResult).error!.message).toContain('line 2, column 11, at "oops}"');
  });

  it('that are broken are told by line, column and excerpt, each where it stands', async () => {
    const cut = text(batch().files).slice(0, -3);
    const [whole] = faultsOf((await postPatch({ files: cut })).call);
    expect(whole).toMatchObject({ code: 'SCHEMA', fileIndex: null });
    expect(whole!.message).toContain(`line 1, column ${cut.length + 1}: it ends too early`);
    const [changes] = faultsOf((await postPatch({ files: [{ ...file(), changes: '[\n{"a":1,}]' }] })).call);
    expect(changes).toMatchObject({ code: 'SCHEMA', fileIndex: 0, docPath: DOC });
    expect(changes!.message).toContain('line 2, column 8, at "}]"');
  });

  it('of another shape stay refused, and so do new lines as text', async () => {
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

  it('are not read in what may be text', async () => {
    const write = { toolCallId: 'w', name: 'write', arguments: { path: '/a.json', content: '{"a":1}' } };
    await fixture.post([write], { waitMs: 5_000 });
    const read = { toolCallId: 'r', name: 'read', arguments: { path: '/a.json' } };
    const { body } = await fixture.post([read], { waitMs: 5_000 });
    expect(body.result.toolResults).toMatchObject([{ result: { content: '{"a":1}' } }]);
  });

  it('are taken in a direct call too', async () => {
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

  it('that hold too much are refused', async () => {
    const { call } = await postPatch({ files: `[${'1,'.repeat(300_000)}1]` });
    expect(faultsOf(call)).toMatchObject([{ code: 'SCHEMA' }]);
  });
});
