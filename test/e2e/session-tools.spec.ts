import { CLOUD_CHANGES, type Session, type SessionContext, type ToolContract } from '@patchbay/protocol';
import { CatalogService } from '../../src/tools/catalog/catalog.service.js';
import { suiteFixture } from '../support/fixtures.js';
import { ToolsFixture } from '../support/tools-fixture.js';

const CLIENT = ['workspace_create_file', 'workspace_write_patch'];

describe('the tools of a session', () => {
  const fixture = suiteFixture(() => ToolsFixture.start());
  let all: string[];
  beforeAll(async () => {
    const catalog = fixture.server.app.get(CatalogService, { strict: false });
    all = (await catalog.toolset(null)).contracts.map(({ name }) => name);
  });

  const begin = (request: object) => fixture.user.post<Session>(`${fixture.base}/sessions`, request);
  const sessionWith = async (tools: string[] | null): Promise<string> => {
    const { status, body } = await begin({ tools });
    expect([status, body.tools]).toEqual([201, tools]);
    return body.sessionId;
  };
  const namesIn = async (query: string): Promise<string[]> => {
    const { body } = await fixture.user.get<{ tools: ToolContract[] }>(`${fixture.base}/tools${query}`);
    return body.tools.map(({ name }) => name);
  };
  const post = (sessionId: string, name: string, args: object) =>
    fixture.user.post<{
      result: { toolResults: { error: { code: string; message: string; details: object } }[] };
    }>(`${fixture.base}/sessions/${sessionId}/turns`, {
      toolCalls: [{ toolCallId: 'c', name, arguments: args }],
    });

  it('are those that the session names, or all by default [SESSION-1]', async () => {
    const server = all.filter((name) => !CLIENT.includes(name));
    const reading = server.filter((name) => !(CLOUD_CHANGES as readonly string[]).includes(name));
    const meaning: [string[] | null, string[]][] = [
      [null, all],
      [
        ['read', 'ls'],
        ['ls', 'read'],
      ],
      [['client'], CLIENT],
      [['server'], server],
      [['read-only'], reading],
      [
        ['read-only', 'mv', 'read', 'client'],
        all.filter((name) => name === 'mv' || ![...CLOUD_CHANGES].includes(name as never)),
      ],
    ];
    for (const [tools, names] of meaning) {
      expect(await namesIn(`?sessionId=${await sessionWith(tools)}`)).toEqual(names);
    }
    expect(await namesIn('')).toEqual(all);
    expect((await begin({})).body.tools).toBeNull();
  });

  it('are returned as the session named them [SESSION-1]', async () => {
    const sessionId = await sessionWith(['read-only', 'mv']);
    const { body } = await fixture.user.get<Session>(`${fixture.base}/sessions/${sessionId}`);
    expect(body.tools).toEqual(['read-only', 'mv']);
    const { body: list } = await fixture.user.get<{ sessions: Session[] }>(`${fixture.base}/sessions`);
    expect(list.sessions.find((session) => session.sessionId === sessionId)!.tools).toEqual([
      'read-only',
      'mv',
    ]);
  });

  it('are rejected when unknown, empty or too many [SESSION-1]', async () => {
    const names = async (tools: unknown) => {
      const { status, body } = await begin({ tools });
      expect(status).toBe(400);
      return (body as unknown as { fields: Record<string, string> }).fields;
    };
    const unknown = await names(['read', 'workspace_reed', 'client', '__proto__', 'not_yet_there']);
    expect(Object.keys(unknown)).toEqual(['tools[1]', 'tools[3]']);
    expect(unknown['tools[1]']).toContain('read-only');
    expect(await names([])).toEqual({ tools: expect.stringContaining('leave it out') as string });
    for (const wrong of ['read', [1], [''], Array<string>(257).fill('read')]) {
      expect(Object.keys(await names(wrong))).toEqual(['tools']);
    }
    expect((await begin({ tools: Array<string>(256).fill('read') })).status).toBe(201);
  });

  it('are available in a provider’s format, for the user of the session only [SESSION-2]', async () => {
    const sessionId = await sessionWith(['read']);
    const path = `${fixture.base}/tools?sessionId=${sessionId}`;
    for (const format of ['openai', 'openai-responses', 'anthropic', 'gemini', 'mcp']) {
      const { body } = await fixture.user.get<{ tools: object[] }>(`${path}&format=${format}`);
      expect(body.tools).toHaveLength(1);
    }
    const other = await fixture.server.register();
    const member = { email: other.email, role: 'member' };
    expect((await fixture.user.post(`${fixture.base}/members`, member)).status).toBe(201);
    expect((await other.get(path)).status).toBe(403);
    expect((await fixture.user.get(`${fixture.base}/tools?sessionId=x`)).status).toBe(400);
  });

  it('are the only tools of its turns and direct calls [SESSION-2]', async () => {
    const sessionId = await sessionWith(['read-only']);
    const offered = await namesIn(`?sessionId=${sessionId}`);
    const { body } = await post(sessionId, 'write', { path: '/a', content: 'x' });
    const { error } = body.result.toolResults[0]!;
    expect(error).toMatchObject({ code: 'UNKNOWN_TOOL', details: { tools: offered } });
    expect(error.message).toContain(`Tools: ${offered.join(', ')}.`);
    expect((await post(sessionId, 'ls', {})).body.result.toolResults[0]!.error).toBeNull();
    await post(sessionId, 'mv', { from: '/a', to: '/b' });
    const [rejected] = await fixture.trail('&event=Tool.Unknown.Rejected&path=b');
    expect(rejected!.fields).toMatchObject({ path: 'b', fromPath: 'a' });
    expect((await fixture.call('write', { path: '/a', content: 'x' }, { sessionId })).status).toBe(404);
    expect((await fixture.call('workspace_create_file', {}, { sessionId })).status).toBe(404);
    expect((await fixture.call('ls', {}, { sessionId })).status).toBe(200);
    expect(await fixture.list()).toEqual([]);
  });

  it('are the only tools in its context [SESSION-2]', async () => {
    const sessionId = await sessionWith(['read', 'workspace_write_patch']);
    const path = `${fixture.base}/sessions/${sessionId}/context?format=json`;
    const { body } = await fixture.user.get<SessionContext>(path);
    expect(JSON.stringify(body)).toContain('# workspace_write_patch');
    expect(JSON.stringify(body)).not.toContain('# write\\n');
  });
});
