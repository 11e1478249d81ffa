import { testFixture } from '../support/fixtures.js';
import { createCall } from '../support/relay-fixture.js';
import { TurnFixture } from '../support/turn-fixture.js';

describe('a posted turn', () => {
  const setup = new TurnFixture();
  const fixture = testFixture(() => setup.open());

  it('accepts calls in the neutral form and those of OpenAI and Anthropic, and keeps their order [TURN-1] [TURN-5]', async () => {
    const { status, body } = await fixture.post([
      { toolCallId: 'ours', name: 'workspace_create_file', arguments: { path: 'a', content: '1' } },
      {
        id: 'openai',
        type: 'function',
        index: 1,
        function: { name: 'workspace_create_file', arguments: '{"path":"b","content":"2"}' },
      },
      {
        type: 'tool_use',
        id: 'anthropic',
        name: 'workspace_create_file',
        input: { path: 'c', content: '3' },
        caller: {},
      },
    ]);
    expect(status).toBe(202);
    expect(body).toMatchObject({ successful: true, errors: [], warnings: [] });
    const { kind, toolCalls, toolResults, conversationId } = body.result;
    expect({ kind, conversationId }).toEqual({
      kind: 'client_tool_continuation',
      conversationId: fixture.session.conversationId,
    });
    expect(toolResults).toEqual([]);
    expect(toolCalls.map((call) => [call.toolCallId, call.arguments])).toEqual([
      ['ours', { path: 'a', content: '1' }],
      ['openai', { path: 'b', content: '2' }],
      ['anthropic', { path: 'c', content: '3' }],
    ]);
    expect(toolCalls[0]).toEqual({
      toolCallId: 'ours',
      callId: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/) as string,
      name: 'workspace_create_file',
      arguments: { path: 'a', content: '1' },
      executionLocation: 'client',
      status: 'pending',
      attempt: 0,
      clientId: null,
      deadlines: { deliveryAt: expect.stringMatching(/Z$/) as string, approvalAt: null, executionAt: null },
    });
  });

  it('fails only the call of an unknown tool, and lists the tools [TURN-2]', async () => {
    const { status, body } = await fixture.post([
      createCall('good'),
      { toolCallId: 'bad', name: 'workspace_make_file', arguments: {} },
    ]);
    expect(status).toBe(202);
    expect(body.result).toMatchObject({ kind: 'client_tool_continuation', status: 'open' });
    expect(body.result.toolCalls).toMatchObject([{ toolCallId: 'good', status: 'pending' }]);
    const [failed] = body.result.toolResults;
    expect(failed).toMatchObject({
      toolCallId: 'bad',
      name: 'workspace_make_file',
      status: 'failed',
      result: null,
      error: { code: 'UNKNOWN_TOOL' },
      executionMs: null,
    });
    expect(failed!.error!.details).toMatchObject({
      tools: expect.arrayContaining(['workspace_create_file']) as string[],
    });
    expect(failed!.error!.message).toContain('workspace_create_file');
    expect(await fixture.steps('bad')).toEqual(['Rejected']);
  });

  it.each([
    ['are missing', { toolCallId: 'c', name: 'workspace_create_file' }, ''],
    ['are null', { toolCallId: 'c', name: 'workspace_create_file', arguments: null }, ''],
    ['are a list', { toolCallId: 'c', name: 'workspace_create_file', arguments: [] }, ''],
    ['are a string', { toolCallId: 'c', name: 'workspace_create_file', arguments: '{' }, ''],
    [
      'are not JSON',
      { id: 'c', type: 'function', function: { name: 'workspace_create_file', arguments: '{"path":' } },
      '',
    ],
    [
      'are JSON but no object',
      { id: 'c', type: 'function', function: { name: 'workspace_create_file', arguments: '7' } },
      '',
    ],
    [
      'are no string',
      { id: 'c', type: 'function', function: { name: 'workspace_create_file', arguments: {} } },
      '',
    ],
    [
      'lack something',
      { toolCallId: 'c', name: 'workspace_create_file', arguments: { path: 'a' } },
      '/content',
    ],
    [
      'have the wrong type',
      { type: 'tool_use', id: 'c', name: 'workspace_create_file', input: { path: 7, content: '' } },
      '/path',
    ],
    [
      'have something more',
      { toolCallId: 'c', name: 'workspace_create_file', arguments: { path: 'a', content: '', mode: 1 } },
      '/mode',
    ],
    [
      'have a blank path',
      { toolCallId: 'c', name: 'workspace_create_file', arguments: { path: ' ', content: '' } },
      '/path',
    ],
  ])(
    'fails only the call whose arguments %s, with faults that a model can correct [TURN-2]',
    async (_, call, path) => {
      const { status, body } = await fixture.post([call]);
      expect(status).toBe(200);
      expect(body.result).toMatchObject({ kind: 'final', status: 'completed', toolCalls: [] });
      const [failed] = body.result.toolResults;
      expect(failed).toMatchObject({
        toolCallId: 'c',
        status: 'failed',
        error: { code: 'INVALID_ARGUMENTS' },
      });
      const { faults } = failed!.error!.details as {
        faults: { path: string; code: string; message: string }[];
      };
      expect(faults).toEqual([
        { path, code: expect.any(String) as string, message: expect.any(String) as string },
      ]);
      expect(failed!.error!.message).toContain(faults[0]!.message);
    },
  );

  it('does not let arguments change a prototype', async () => {
    const text = '{"path":"a","content":"","__proto__":{"polluted":true}}';
    const { body } = await fixture.post([
      { id: 'c', type: 'function', function: { name: 'workspace_create_file', arguments: text } },
    ]);
    expect(body.result.toolResults).toMatchObject([{ error: { code: 'INVALID_ARGUMENTS' } }]);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('accepts arguments as large as the body allows unchanged', async () => {
    const content = 'ä€😀\u0000\n'.repeat(10_000);
    const { body } = await fixture.post([createCall('c', 'big.txt', content)]);
    expect(body.result.toolCalls[0]!.arguments).toEqual({ path: 'big.txt', content });
  });

  it('is shown in its current state, however large and whoever read it before', async () => {
    const large = { ...createCall('large'), arguments: { path: 'a', content: 'x'.repeat(100_000) } };
    const { turnId } = (await fixture.post([large, createCall('other')])).body.result;
    expect((await fixture.get(turnId)).body.result.toolCalls).toHaveLength(2);
    await fixture.cancel(turnId, 'other');
    expect((await fixture.get(turnId)).body.result.toolResults).toMatchObject([{ toolCallId: 'other' }]);
    await fixture.cancel(turnId);
  });
});
