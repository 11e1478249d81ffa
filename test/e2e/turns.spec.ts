import type { InvokeResult, TurnEnvelope } from '@patchbay/protocol';
import { randomUUID } from 'node:crypto';
import { createCall, RelayScene } from '../support/relay-scene.js';
import { startTestServer, type TestServer, type TestUser } from '../support/server.js';

const MAX_OPEN_TURNS = 3;
const MAX_WAIT_MS = 5_000;

describe('a posted turn', () => {
  let server: TestServer;
  let user: TestUser;
  let scene: RelayScene;
  beforeAll(async () => {
    const limits = { maxOpenTurns: MAX_OPEN_TURNS, maxCallsPerTurn: 5, maxWaitMs: MAX_WAIT_MS };
    server = await startTestServer({ config: { ...limits, maxExecutionMs: 2_000, executionMs: 1_000 } });
    user = await server.register();
  });
  beforeEach(async () => void (scene = await RelayScene.on(server, user)));
  afterEach(() => scene.close());
  afterAll(() => server.close());

  const refusal = (fields: Record<string, string>) => ({
    status: 400,
    body: { code: 'VALIDATION_ERROR', fields, error: expect.any(String) as string },
  });
  const postAs = (key: string, toolCalls: unknown[], more: Record<string, unknown> = {}) =>
    server.request<InvokeResult<TurnEnvelope>>(
      'POST',
      scene.base,
      { toolCalls, waitMs: 0, ...more },
      { authorization: `Bearer ${user.token}`, 'idempotency-key': key },
    );

  it('takes calls in our own form, OpenAI’s and Anthropic’s, and keeps their order [TURN-1] [TURN-5]', async () => {
    const { status, body } = await scene.post([
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
      conversationId: scene.session.conversationId,
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

  it('fails a call alone whose tool is unknown, and says which tools there are [TURN-2]', async () => {
    const { status, body } = await scene.post([
      createCall('good'),
      { toolCallId: 'bad', name: 'workspace_make_file', arguments: {} },
    ]);
    expect(status).toBe(202);
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
    expect(await scene.steps('bad')).toEqual(['Rejected']);
  });

  it.each([
    ['are missing', { toolCallId: 'c', name: 'workspace_create_file' }, ''],
    ['are null', { toolCallId: 'c', name: 'workspace_create_file', arguments: null }, ''],
    ['are a list', { toolCallId: 'c', name: 'workspace_create_file', arguments: [] }, ''],
    ['are a string', { toolCallId: 'c', name: 'workspace_create_file', arguments: '{}' }, ''],
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
  ])('fails a call alone whose arguments %s, so that a model can mend it [TURN-2]', async (_, call, path) => {
    const { status, body } = await scene.post([call]);
    expect(status).toBe(200);
    expect(body.result).toMatchObject({ kind: 'final', status: 'completed', toolCalls: [] });
    const [failed] = body.result.toolResults;
    expect(failed).toMatchObject({ toolCallId: 'c', status: 'failed', error: { code: 'INVALID_ARGUMENTS' } });
    const { faults } = failed!.error!.details as {
      faults: { path: string; code: string; message: string }[];
    };
    expect(faults).toEqual([
      { path, code: expect.any(String) as string, message: expect.any(String) as string },
    ]);
    expect(failed!.error!.message).toContain(faults[0]!.message);
  });

  it('does not let arguments reach a prototype', async () => {
    const text = '{"path":"a","content":"","__proto__":{"polluted":true}}';
    const { body } = await scene.post([
      { id: 'c', type: 'function', function: { name: 'workspace_create_file', arguments: text } },
    ]);
    expect(body.result.toolResults).toMatchObject([{ error: { code: 'INVALID_ARGUMENTS' } }]);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('does not take calls whose arguments are as large as the body allows for anything else than what they are', async () => {
    const content = 'ä€😀\u0000\n'.repeat(10_000);
    const { body } = await scene.post([createCall('c', 'big.txt', content)]);
    expect(body.result.toolCalls[0]!.arguments).toEqual({ path: 'big.txt', content });
  });

  it.each([
    ['no calls at all', {}, { toolCalls: 'is required' }],
    ['an empty list', { toolCalls: [] }, { toolCalls: 'must have at least one call' }],
    ['something else than a list', { toolCalls: 'x' }, { toolCalls: expect.any(String) as string }],
    ['a call that is no object', { toolCalls: [null] }, { 'toolCalls[0]': 'must be an object' }],
    [
      'an unknown property of a call',
      { toolCalls: [{ ...createCall('c'), extra: 1 }] },
      { 'toolCalls[0].extra': 'is not a known property' },
    ],
    [
      'a toolCallId twice',
      { toolCalls: [createCall('c'), createCall('d'), createCall('c')] },
      { 'toolCalls[2].toolCallId': 'is the same as that of toolCalls[0]' },
    ],
    [
      'calls without id and name, all named at once',
      { toolCalls: [{}, { type: 'tool_use' }, { type: 'function' }] },
      {
        'toolCalls[0].name': expect.any(String) as string,
        'toolCalls[0].toolCallId': expect.any(String) as string,
        'toolCalls[1].id': expect.any(String) as string,
        'toolCalls[1].name': expect.any(String) as string,
        'toolCalls[2].id': expect.any(String) as string,
        'toolCalls[2].function.name': expect.any(String) as string,
      },
    ],
    [
      'too many calls',
      { toolCalls: Array.from({ length: 6 }, (__, at) => createCall(`c${at}`)) },
      { toolCalls: 'must have at most 5 calls' },
    ],
    [
      'an overlong toolCallId',
      { toolCalls: [createCall('x'.repeat(257))] },
      { 'toolCalls[0].toolCallId': expect.any(String) as string },
    ],
    ['an unknown property', { toolCalls: [createCall('c')], wait: 1 }, { wait: 'is not a known property' }],
    [
      'a negative waitMs',
      { toolCalls: [createCall('c')], waitMs: -1 },
      { waitMs: expect.any(String) as string },
    ],
    [
      'a waitMs over the limit',
      { toolCalls: [createCall('c')], waitMs: MAX_WAIT_MS + 1 },
      { waitMs: `must not be over ${MAX_WAIT_MS}` },
    ],
    [
      'a timeout over its maximum',
      { toolCalls: [createCall('c')], timeouts: { executionMs: 2_001 } },
      { 'timeouts.executionMs': 'must not be over 2000' },
    ],
    [
      'a timeout of nothing',
      { toolCalls: [createCall('c')], timeouts: { deliveryMs: 0 } },
      { 'timeouts.deliveryMs': expect.any(String) as string },
    ],
    [
      'an unknown timeout',
      { toolCalls: [createCall('c')], timeouts: { patienceMs: 1 } },
      { 'timeouts.patienceMs': 'is not a known property' },
    ],
  ])('is refused with %s [REQ-6] [TURN-1]', async (_, body, fields) => {
    expect(await user.post(scene.base, { waitMs: 0, ...body })).toMatchObject(refusal(fields));
  });

  it.each(['', 'a b', 'a/b', 'ä', 'x'.repeat(129), 7, '.', '..'])(
    'is refused with the turnId %j',
    async (turnId) => {
      expect(await scene.post([createCall('c')], { turnId })).toMatchObject(
        refusal({ turnId: 'must be 1 to 128 of A-Z a-z 0-9 . _ : - and not "." or ".."' }),
      );
    },
  );

  it.each(['a', 'A.z_0:9-', 'x'.repeat(128)])('takes the turnId %j', async (turnId) => {
    expect((await scene.post([createCall('c')], { turnId })).body.result.turnId).toBe(turnId);
  });

  it('takes absent and null for the same', async () => {
    const request = { turnId: null, waitMs: 0, timeouts: { deliveryMs: null }, toolCalls: [createCall('c')] };
    expect((await user.post(scene.base, request)).status).toBe(202);
  });

  it('is the same turn when it comes again under its turnId, whatever the order of keys, form or waitMs [TURN-3]', async () => {
    const first = await scene.post([createCall('c', 'a', 'b')], { turnId: 't' });
    const again = await scene.post(
      [
        {
          id: 'c',
          type: 'function',
          function: { name: 'workspace_create_file', arguments: '{"content":"b","path":"a"}' },
        },
      ],
      { turnId: 't', timeouts: {}, waitMs: 1 },
    );
    expect(again).toMatchObject({ status: 202, body: first.body });
    expect(await scene.steps('c')).toEqual(['Accepted']);
  });

  it.each([
    ['other calls', { toolCalls: [createCall('other')] }],
    ['other timeouts', { timeouts: { deliveryMs: 5 } }],
  ])('is a conflict when it comes again under its turnId with %s [TURN-3]', async (_, change) => {
    await scene.post([createCall('c')], { turnId: 't' });
    const again = await user.post(scene.base, {
      toolCalls: [createCall('c')],
      turnId: 't',
      waitMs: 0,
      ...change,
    });
    expect(again).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
  });

  it('is another turn under the same turnId in another session', async () => {
    const first = (await scene.post([createCall('c')], { turnId: 't' })).body.result;
    await scene.newSession();
    const second = (await scene.post([createCall('c')], { turnId: 't' })).body.result;
    expect(second.toolCalls[0]!.callId).not.toBe(first.toolCalls[0]!.callId);
  });

  it('is the same turn under the same Idempotency-Key, and a conflict with other calls or in another session [TURN-3]', async () => {
    const first = await postAs('k', [createCall('c')]);
    expect((await postAs('k', [createCall('c')])).body).toEqual(first.body);
    expect(await postAs('k', [createCall('d')])).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
    await scene.newSession();
    expect(await postAs('k', [createCall('c')])).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
  });

  it('is told all of its faults at once, whatever their kind [REQ-1]', async () => {
    const { status, body } = await scene.post([{}, { toolCallId: 'c', name: 'x' }, 5], {
      turnId: 'a b',
      mode: 1,
      waitMs: -1,
      timeouts: { deliveryMs: 'soon' },
    });
    expect(status).toBe(400);
    expect(Object.keys((body as unknown as { fields: object }).fields).sort()).toEqual([
      'mode',
      'timeouts.deliveryMs',
      'toolCalls[0].name',
      'toolCalls[0].toolCallId',
      'toolCalls[2]',
      'turnId',
      'waitMs',
    ]);
  });

  it('is a conflict where key and turnId point to different turns [TURN-3]', async () => {
    const first = (await postAs('k', [createCall('c')], { turnId: 'a' })).body.result;
    await scene.post([createCall('c')], { turnId: 'b' });
    const conflict = { status: 409, body: { code: 'CONFLICT' } };
    expect(await postAs('k', [createCall('c')], { turnId: 'b' })).toMatchObject(conflict);
    expect(await postAs('k', [createCall('c')], { turnId: 'new' })).toMatchObject(conflict);
    expect((await postAs('k', [createCall('c')], { turnId: 'a' })).body.result).toEqual(first);
    expect((await postAs('k', [createCall('c')])).body.result).toEqual(first);
  });

  it.each(['', 'ä', 'x'.repeat(257)])('is refused with the Idempotency-Key %j', async (key) => {
    const answer = await postAs(Buffer.from(key).toString('latin1'), [createCall('c')]);
    expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
  });

  it('is taken once when it is posted many times at once', async () => {
    const client = await scene.client();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => postAs('k', [createCall('c')], { turnId: 't' })),
    );
    const callIds = answers.map(({ body }) => body.result.toolCalls[0]!.callId);
    expect(new Set(callIds).size).toBe(1);
    await client.report(await client.delivery());
    expect(client.calls).toHaveLength(1);
    // The window is whole again: as many calls as it holds can go out.
    const { body } = await scene.post(['1', '2', '3', '4', '5'].map((id) => createCall(id)));
    await client.delivery(6);
    await scene.cancel(body.result.turnId);
  });

  it('is refused where the workspace has too many open turns, until one ends [TURN-10]', async () => {
    const turns = await Promise.all(
      ['a', 'b', 'c'].map((turnId) => scene.post([createCall('c')], { turnId })),
    );
    expect(turns.map(({ status }) => status)).toEqual([202, 202, 202]);
    const refused = await scene.post([createCall('c')]);
    expect(refused).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } });
    expect(refused.headers.get('retry-after')).toBe('5');
    // What was taken before can be asked for again, and what ends at once is no open turn.
    expect((await scene.post([createCall('c')], { turnId: 'a' })).status).toBe(202);
    expect((await scene.post([{ toolCallId: 'c', name: 'nothing' }])).status).toBe(200);
    await scene.cancel('a');
    expect((await scene.post([createCall('c')])).status).toBe(202);
  });

  it('waits for its calls to end, and no longer than it was asked to [TURN-4]', async () => {
    const startedAt = Date.now();
    const open = await scene.post([createCall('c')], { waitMs: 200 });
    expect(open.status).toBe(202);
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(195);
    const client = await scene.client();
    const polled = scene.get(open.body.result.turnId, MAX_WAIT_MS);
    await client.report(await client.delivery());
    expect(await polled).toMatchObject({ status: 200, body: { result: { kind: 'final' } } });
  });

  it('waits for its calls also where it is not told how long [TURN-4]', async () => {
    const client = await scene.client();
    const posted = user.post(scene.base, { toolCalls: [createCall('c')] });
    const call = await client.delivery();
    await new Promise((resolve) => setTimeout(resolve, 200));
    await client.report(call);
    expect(await posted).toMatchObject({ status: 200, body: { result: { kind: 'final' } } });
  });

  it('wakes everybody who waits for it', async () => {
    const { turnId } = (await scene.post([createCall('c')])).body.result;
    const waiting = Array.from({ length: 15 }, () => scene.get(turnId, MAX_WAIT_MS));
    await scene.cancel(turnId);
    expect((await Promise.all(waiting)).map(({ body }) => body.result.status)).toEqual(
      waiting.map(() => 'cancelled'),
    );
  });

  it('is looked at with a waitMs within its limits', async () => {
    const { turnId } = (await scene.post([createCall('c')])).body.result;
    const get = (query: string) => user.get(`${scene.base}/${turnId}${query}`);
    expect(await get('')).toMatchObject({ status: 202 });
    for (const waitMs of ['-1', 'soon', '1.5', String(MAX_WAIT_MS + 1)]) {
      expect(await get(`?waitMs=${waitMs}`)).toMatchObject({
        status: 400,
        body: { code: 'VALIDATION_ERROR' },
      });
    }
    expect(await get('?wait=1')).toMatchObject({ status: 400 });
  });

  it('is not found where there is none, in another session or workspace', async () => {
    const { turnId } = (await scene.post([createCall('c')])).body.result;
    expect(await scene.get('nothing')).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
    expect(await scene.cancel('nothing')).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
    expect(await scene.cancel(turnId, 'nothing')).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
    expect(await scene.postResults('nothing', [])).toMatchObject({ status: 404 });
    const session = scene.session;
    await scene.newSession();
    expect(await scene.get(turnId)).toMatchObject({ status: 404 });
    scene.session = session;
  });

  it('goes into a session that is there', async () => {
    const path = `/workspaces/${scene.workspaceId}/sessions`;
    const turn = { toolCalls: [createCall('c')] };
    expect(await user.post(`${path}/${randomUUID()}/turns`, turn)).toMatchObject({ status: 404 });
    expect(await user.post(`${path}/nothing/turns`, turn)).toMatchObject({
      status: 400,
      body: { fields: { sessionId: 'must be a UUID' } },
    });
  });

  it('is its own user’s: another member gets 403, a stranger too, and nobody without a token [TURN-10]', async () => {
    const { turnId } = (await scene.post([createCall('c')])).body.result;
    const [member, stranger] = await Promise.all([server.register(), server.register()]);
    await user.addMember(scene.workspaceId, member);
    for (const other of [member, stranger]) {
      for (const answer of [
        await other.post(scene.base, { toolCalls: [createCall('d')] }),
        await other.get(`${scene.base}/${turnId}`),
        await other.post(`${scene.base}/${turnId}/cancel`),
        await other.post(`${scene.base}/${turnId}/tool-calls/c/cancel`),
        await other.post(`${scene.base}/${turnId}/results`, { results: [{ toolCallId: 'c', result: null }] }),
      ]) {
        expect(answer).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
      }
    }
    expect((await server.request('GET', `${scene.base}/${turnId}`)).status).toBe(401);
    expect((await scene.calls(turnId)).c!.status).toBe('pending');
  });
});
