import type { ErrorBody, ErrorCode, InvokeResult, TurnResult } from '@patchbay/protocol';
import { ANSWER_EXAMPLES, ERROR_EXAMPLES, TURN_REQUESTS } from '../scripts/api-document/examples.js';
import { type Answer, startTestServer, type TestServer, type TestUser } from './support/server.js';

type TurnAnswer = Answer<InvokeResult<TurnResult>>;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The same without what no two servers have in common. */
function lasting(body: unknown): unknown {
  return JSON.parse(JSON.stringify(body), (key, value: unknown) => {
    if (typeof value === 'number' && ['seq', 'executionMs'].includes(key)) return 'a number';
    if (typeof value !== 'string') return value;
    if (UUID.test(value)) return 'an id';
    return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value) ? 'a time' : value;
  });
}

describe('The examples in docs/openapi.json', () => {
  let server: TestServer;
  let user: TestUser;
  let workspace: string;
  let turns: string;
  const answers = new Map<string, TurnAnswer>();
  beforeAll(async () => {
    server = await startTestServer();
    user = await server.register();
    workspace = `/workspaces/${(await user.createWorkspace()).id}`;
    const session = await user.post<{ sessionId: string }>(`${workspace}/sessions`, {});
    turns = `${workspace}/sessions/${session.body.sessionId}/turns`;
    await user.post(`${workspace}/tools`, {
      tool: 'write',
      args: { path: '/notes/today.md', content: { text: '# Today\n' } },
    });
    for (const [name, { value }] of Object.entries(TURN_REQUESTS))
      answers.set(name, await user.post(turns, value));
  });
  afterAll(() => server.close());

  const examplesOf = (operationId: string, status: number) =>
    Object.entries(ANSWER_EXAMPLES[operationId]![status]!).map(
      ([name, { value }]) => [name, lasting(value)] as const,
    );

  it('of calls do the same in every form', () => {
    const { open, ...read } = Object.fromEntries(answers);
    expect(open!.status).toBe(202);
    expect(Object.keys(read)).toEqual(['patchbay', 'openai', 'openai-responses', 'anthropic', 'gemini']);
    for (const [name, { status, body }] of Object.entries(read)) {
      const done = { result: { success: true, content: '# Today\n' } };
      expect({ name, status, results: body.result.toolResults }).toMatchObject({
        ...{ name, status: 200, results: [done] },
      });
      expect([name, body.result.messages?.length]).toEqual([name, name === 'patchbay' ? undefined : 1]);
    }
  });

  it.each([200, 202])('of turns are what a server answers with status %i', (status) => {
    for (const [name, body] of examplesOf('postTurn', status)) {
      const answer = answers.get(name)!;
      expect([name, answer.status, lasting(answer.body)]).toEqual([name, status, body]);
    }
  });

  it('of the audit trail are what a server has recorded', async () => {
    for (const [name, body] of examplesOf('queryAudit', 200)) {
      const { turnId } = answers.get(name)!.body.result;
      expect([name, lasting((await user.get(`${workspace}/audit?turnId=${turnId}`)).body)]).toEqual([
        name,
        body,
      ]);
    }
  });

  it('of errors are what a server answers', async () => {
    const stranger = await server.register();
    const asked: { [code in ErrorCode]?: Answer } = {
      VALIDATION_ERROR: await user.post(turns, { toolCalls: [{ toolCallId: 'call_1' }], waitMs: -1 }),
      INVALID_TOKEN: await server.request('GET', '/workspaces'),
      FORBIDDEN: await stranger.get(workspace),
    };
    const errors = Object.entries(asked).map(([code, { body }]) => [code, body as ErrorBody]);
    expect(errors).toEqual(Object.entries(ERROR_EXAMPLES).map(([code, { value }]) => [code, value]));
  });
});
