import type { GeminiResultContent, JsonObject } from '@patchbay/protocol';
import { suiteFixture } from '../support/fixtures.js';
import { createCall, RelayFixture } from '../support/relay-fixture.js';

const WRITE = { toolCallId: 'w', name: 'write', arguments: { path: '/a.txt', content: 'x' } };
const MISSING = { toolCallId: 'm', name: 'read', arguments: { path: '/no-such' } };

describe('resultFormat [TURN-11]', () => {
  const fixture = suiteFixture(() => RelayFixture.start());

  const postAndWait = (resultFormat?: unknown) =>
    fixture.post([WRITE, MISSING], { waitMs: 20_000, ...(resultFormat !== undefined && { resultFormat }) });
  const parsed = (content: string): JsonObject => JSON.parse(content) as JsonObject;

  it('returns ended calls as messages of OpenAI, in the order of the turn', async () => {
    const { body } = await postAndWait('openai');
    const [written, missing] = body.result.messages as {
      role: string;
      tool_call_id: string;
      content: string;
    }[];
    expect(written).toMatchObject({ role: 'tool', tool_call_id: 'w' });
    expect(parsed(written!.content)).toEqual(body.result.toolResults[0]!.result);
    expect(missing).toMatchObject({ role: 'tool', tool_call_id: 'm' });
    expect(parsed(missing!.content)).toEqual({ error: body.result.toolResults[1]!.error });
  });

  it('returns ended calls as messages of Anthropic, errors marked', async () => {
    const { body } = await postAndWait('anthropic');
    expect(body.result.messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'w', content: expect.any(String) as string },
          { type: 'tool_result', tool_use_id: 'm', content: expect.any(String) as string, is_error: true },
        ],
      },
    ]);
  });

  it('accepts and answers calls of OpenAI’s Responses API', async () => {
    const call = { type: 'function_call', id: 'fc_1', call_id: 'r', name: 'ls', arguments: '{"path":"/"}' };
    const { body } = await fixture.post([call], { waitMs: 20_000, resultFormat: 'openai-responses' });
    const [ended] = body.result.toolResults;
    expect(body.result.messages).toEqual([
      { type: 'function_call_output', call_id: 'r', output: JSON.stringify(ended!.result) },
    ]);
  });

  it('accepts and answers calls of Gemini, with the same turn when repeated without ids [TURN-3]', async () => {
    const calls = [
      { functionCall: { name: 'ls', args: { path: '/' } }, thoughtSignature: 'AAAA' },
      { functionCall: { id: 'g', name: 'workspace_list_active_files' } },
    ];
    const more = { turnId: 'of-gemini', waitMs: 20_000, resultFormat: 'gemini' };
    const { body } = await fixture.post(calls, more);
    const [listed, active] = body.result.toolResults;
    expect(body.result.messages).toEqual([
      {
        role: 'user',
        parts: [
          { functionResponse: { name: 'ls', response: { output: listed!.result } } },
          {
            functionResponse: {
              ...{ id: 'g', name: 'workspace_list_active_files' },
              response: { output: active!.result },
            },
          },
        ],
      },
    ]);
    expect((await fixture.post(calls, more)).body).toEqual(body);
  });

  it('distinguishes Gemini calls of one name without ids by their order', async () => {
    for (const name of ['a', 'b']) {
      await fixture.post([{ ...WRITE, arguments: { path: `/same/${name}`, content: name } }], {
        waitMs: 20_000,
      });
    }
    const read = (path: string) => ({ functionCall: { name: 'read', args: { path: `/same/${path}` } } });
    const calls = [read('b'), read('none'), read('a'), read('b')];
    const { body } = await fixture.post(calls, { waitMs: 20_000, resultFormat: 'gemini' });
    const [{ parts } = { parts: [] }] = body.result.messages as GeminiResultContent[];
    const responses = parts.map(({ functionResponse: { id, name, response } }) => [
      ...[id, name],
      (response.output as JsonObject | undefined)?.content ?? response.error!.code,
    ]);
    expect(responses).toEqual([
      [undefined, 'read', 'b'],
      [undefined, 'read', 'NOT_FOUND'],
      [undefined, 'read', 'a'],
      [undefined, 'read', 'b'],
    ]);
  });

  it('returns a result with a $ref to Gemini as a string, because Gemini would resolve it', async () => {
    const content = { paths: [{ schema: { $ref: '#/components/schemas/Error' } }] };
    await fixture.post([{ ...WRITE, arguments: { path: '/api.json', content } }], { waitMs: 20_000 });
    const call = { functionCall: { name: 'read', args: { path: '/api.json' } } };
    const { body } = await fixture.post([call], { waitMs: 20_000, resultFormat: 'gemini' });
    const [{ parts } = { parts: [] }] = body.result.messages as GeminiResultContent[];
    const { output } = parts[0]!.functionResponse.response;
    expect(output).toBe(JSON.stringify(body.result.toolResults[0]!.result));
    expect(parsed(output as string)).toMatchObject({ content });
  });

  it('adds no messages unless requested', async () => {
    for (const format of [undefined, null, 'neutral']) {
      const { status, body } = await postAndWait(format);
      expect([status, 'messages' in body.result]).toEqual([200, false]);
    }
  });

  it('may differ between requests for the same turn [TURN-3]', async () => {
    const turnId = 'seen-both-ways';
    const first = await fixture.post([WRITE], { turnId, waitMs: 20_000, resultFormat: 'openai' });
    const again = await fixture.post([WRITE], { turnId, waitMs: 20_000, resultFormat: 'anthropic' });
    expect([first.status, again.status]).toEqual([200, 200]);
    expect(again.body.result.messages).toMatchObject([{ role: 'user' }]);
    const got = await fixture.user.get(`${fixture.base}/${turnId}?resultFormat=openai`);
    expect(got.body).toEqual(first.body);
    expect((await fixture.get(turnId)).body.result).not.toHaveProperty('messages');
  });

  it('includes a denied call only after it has ended', async () => {
    const client = await fixture.client();
    const { body } = await fixture.post([createCall('denied')], { resultFormat: 'openai' });
    expect(body.result).toMatchObject({ kind: 'client_tool_continuation', messages: [] });
    const approval = { decision: 'deny', by: 'ada', at: new Date().toISOString(), note: 'Not there.' };
    await client.report(await client.delivery(), { result: null, approval });
    const ended = await fixture.user.get(`${fixture.base}/${body.result.turnId}?resultFormat=openai`);
    expect(ended.body).toMatchObject({
      result: {
        messages: [{ tool_call_id: 'denied', content: '{"error":{"code":"DENIED","message":"Not there."}}' }],
      },
    });
  });

  it('is rejected when it is not a format', async () => {
    const posted = await postAndWait('cohere');
    expect(posted).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
    expect(posted.body).toHaveProperty('fields.resultFormat');
    expect((await fixture.user.get(`${fixture.base}/x?resultFormat=cohere`)).status).toBe(400);
  });
});
