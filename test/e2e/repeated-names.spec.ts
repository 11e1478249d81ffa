import type { InvokeResult, JsonObject, ToolResult, TurnResult } from '@patchbay/protocol';
import { testFixture } from '../support/fixtures.js';
import { patchCall, PatchFixture } from '../support/patch-fixture.js';
import { oneServer } from '../support/server.js';

const TWICE = (name: string): string => `holds the name "${name}" twice in one object; send each name once`;
const CREATE = 'workspace_create_file';

describe('a JSON body with a repeated name in an object [REQ-51]', () => {
  const server = oneServer();
  const setup = new PatchFixture(server);
  const fixture = testFixture(() => setup.open());

  const send = async (path: string, body: string): Promise<{ status: number; body: JsonObject }> => {
    const response = await fetch(`${server().url}/api/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${fixture.user.token}`, 'content-type': 'application/json' },
      body,
    });
    return { status: response.status, body: (await response.json()) as JsonObject };
  };
  const results = async (...calls: string[]): Promise<ToolResult[]> => {
    const { body } = await send(fixture.base, `{"waitMs":5000,"toolCalls":[${calls.join()}]}`);
    return (body as unknown as InvokeResult<TurnResult>).result.toolResults;
  };

  it('fails only the call with it in its arguments, in every form', async () => {
    const args = '{"path":"a.txt","content":"x","path":"b.txt"}';
    const text = JSON.stringify(args);
    const ended = await results(
      `{"toolCallId":"neutral","name":"${CREATE}","arguments":${args}}`,
      `{"toolCallId":"text","name":"${CREATE}","arguments":${text}}`,
      `{"type":"tool_use","id":"anthropic","name":"${CREATE}","input":${args}}`,
      `{"type":"function","id":"openai","function":{"name":"${CREATE}","arguments":${text}}}`,
      `{"type":"function_call","call_id":"responses","name":"${CREATE}","arguments":${text}}`,
      `{"functionCall":{"id":"gemini","name":"${CREATE}","args":${args}}}`,
      '{"toolCallId":"server","name":"ls","arguments":{"path":"/","path":"/x"}}',
      '{"toolCallId":"sound","name":"ls","arguments":{"path":"/"}}',
    );
    const failed = ended.filter(({ toolCallId }) => toolCallId !== 'sound');
    expect(failed).toHaveLength(7);
    for (const { status, error } of failed) {
      expect(status).toBe('failed');
      expect(error).toMatchObject({
        code: 'INVALID_ARGUMENTS',
        message: expect.stringContaining(`path ${TWICE('path')}`) as string,
        details: { faults: [{ path: '/path', code: 'content', message: TWICE('path') }] },
      });
    }
    expect(ended.find(({ toolCallId }) => toolCallId === 'sound')).toMatchObject({ status: 'succeeded' });
  });

  it('fails a patch with it at any depth, also in files sent as a string', async () => {
    const { arguments: args } = patchCall();
    const batch = JSON.stringify(args).replace('"operation":', '"operation":"delete","operation":');
    const asText = JSON.stringify({ files: batch.slice(batch.indexOf('['), -1) });
    const ended = await results(
      ...[batch, asText].map(
        (one, at) => `{"toolCallId":"p${at}","name":"workspace_write_patch","arguments":${one}}`,
      ),
    );
    expect(ended).toHaveLength(2);
    for (const { error } of ended) {
      expect(error).toMatchObject({
        code: 'INVALID_ARGUMENTS',
        details: { faults: [{ code: 'SCHEMA', message: `files ${TWICE('operation')}` }] },
      });
    }
  });

  it('is a 400 that names the argument of a direct call', async () => {
    const tools = `/workspaces/${fixture.workspaceId}/tools`;
    expect(await send(tools, '{"tool":"ls","args":{"path":"/a","path":"/b"}}')).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_ERROR', fields: { path: TWICE('path') } },
    });
    const content = '{"tool":"write","args":{"path":"/a","content":{"a":[{"b":1,"b":2}]}}}';
    expect((await send(tools, content)).body).toMatchObject({ fields: { content: TWICE('b') } });
    const nested = `{"tool":"${CREATE}","args":{"path":"a","content":"","overwrite":true,"overwrite":false}}`;
    expect((await send(tools, nested)).body).toMatchObject({ fields: { overwrite: TWICE('overwrite') } });
  });

  it.each([
    ['{"toolCalls":[],"toolCalls":[{"toolCallId":"a","name":"ls","arguments":{}}]}', ['toolCalls']],
    [
      '{"toolCalls":[{"toolCallId":"a","toolCallId":"b","name":"ls","name":"rm","arguments":{}}],"waitMs":0}',
      ['toolCalls[0].name', 'toolCalls[0].toolCallId'],
    ],
    [
      '{"toolCalls":[{"type":"function","id":"a","function":{"name":"ls","arguments":"","name":"rm"}}]}',
      ['toolCalls[0].function.name'],
    ],
    [
      '{"toolCalls":[{"functionCall":{"name":"ls","args":{},"args":{"path":"/"}}}]}',
      ['toolCalls[0].functionCall.args'],
    ],
    [
      '{"toolCalls":[{"toolCallId":"a","name":"ls","arguments":{}}],"timeouts":{"deliveryMs":1000,"deliveryMs":2000}}',
      ['timeouts.deliveryMs'],
    ],
  ])('is a 400 when the request itself has it: %s', async (body, fields) => {
    const answer = await send(fixture.base, body);
    expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
    const faults = answer.body.fields as JsonObject;
    expect(Object.keys(faults).sort()).toEqual(fields);
    for (const fault of Object.values(faults))
      expect(fault).toBe('occurs twice in one object; send each name once');
  });

  it('is a 400 in other requests too', async () => {
    expect(await send('/workspaces', '{"name":"a","name":"b"}')).toMatchObject({
      status: 400,
      body: { fields: { name: 'occurs twice in one object; send each name once' } },
    });
  });
});
