import type { Session, ToolResult } from '@patchbay/protocol';
import { aRoot } from '../support/fake-client.js';
import { testFixture } from '../support/fixtures.js';
import { readTrail } from '../support/invariants.js';
import { RelayFixture } from '../support/relay-fixture.js';
import { oneServer } from '../support/server.js';

const CREATE = 'workspace_create_file';
const PATCH = 'workspace_write_patch';

describe('tools that change the Cloud below a folder that the user has connected [SESSION-3]', () => {
  const server = oneServer();
  const fixture = testFixture(async () => RelayFixture.on(server(), await server().register()));
  beforeEach(async () => {
    await ended('write', { path: '/proj/a.txt', content: 'x' });
    await ended('write', { path: '/other/b.txt', content: 'x' });
  });

  const ended = async (name: string, args: object): Promise<ToolResult> => {
    const { body } = await fixture.post([{ toolCallId: name, name, arguments: args }], { waitMs: 20_000 });
    return body.result.toolResults[0]!;
  };
  const direct = (tool: string, args: object, more: object = {}) =>
    fixture.user.post(`/workspaces/${fixture.workspaceId}/tools`, { tool, args, ...more });
  const choose = async (tools: string[] | null): Promise<void> => {
    const path = `/workspaces/${fixture.workspaceId}/sessions`;
    fixture.session = (await fixture.user.post<Session>(path, { tools })).body;
  };

  it.each<[string, object, string]>([
    ['write', { path: '/proj/a.txt', content: 'y' }, CREATE],
    ['write', { path: 'PROJ/new/b.txt', content: 'y' }, PATCH],
    ['edit', { path: '/Proj/A.txt', oldString: 'x', newString: 'y' }, PATCH],
    ['rm', { path: '/proj/a.txt' }, PATCH],
    ['rm', { path: '/proj' }, PATCH],
    ['mkdir', { path: '/proj/folder' }, CREATE],
    ['mv', { from: '/proj/a.txt', to: '/other/a.txt' }, CREATE],
    ['mv', { from: '/other/b.txt', to: '/proj/b.txt' }, CREATE],
  ])('%s of %j is rejected and the answer names the client tool', async (name, args, instead) => {
    await fixture.client({ roots: [aRoot('Proj')], tools: [CREATE, PATCH] });
    const { status, error, result } = await ended(name, args);
    expect([status, error!.code, result]).toEqual(['failed', 'CONFLICT', null]);
    expect(error!.message).toContain(instead);
    const answer = await direct(name, args, { sessionId: fixture.session.sessionId });
    expect(answer).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
    expect((answer.body as { error: string }).error).toContain(instead);
    const refused = await readTrail(fixture.user, fixture.workspaceId, '&errorCode=CONFLICT');
    expect(refused).toHaveLength(2);
    const { body } = await fixture.user.get<{ files: { docPath: string; sha256: string }[] }>(
      `/workspaces/${fixture.workspaceId}/files`,
    );
    expect(body.files.map(({ docPath }) => docPath)).toEqual(['other/b.txt', 'proj/a.txt']);
  });

  it('are accepted in other folders, in a session that names them, without a session, and once no client has the folder', async () => {
    const client = await fixture.client({ roots: [aRoot('proj')] });
    const write = (path: string) => ended('write', { path, content: 'y' });
    expect(await write('/other/b.txt')).toMatchObject({ status: 'succeeded' });
    expect(await write('/projects/b.txt')).toMatchObject({ status: 'succeeded' });
    for (const tools of [['server'], ['edit', 'client', 'server'], null]) {
      await choose(tools);
      expect(await write('/proj/a.txt')).toMatchObject({ error: { code: 'CONFLICT' } });
    }
    await choose(['client', 'write']);
    expect(await write('/proj/a.txt')).toMatchObject({ status: 'succeeded' });
    expect(
      await direct('write', { path: '/proj/a.txt', content: 'z' }, { sessionId: fixture.session.sessionId }),
    ).toMatchObject({ status: 200 });
    await choose(null);
    expect(await direct('write', { path: '/proj/a.txt', content: 'z' })).toMatchObject({ status: 200 });
    expect(await ended('read', { path: '/proj/a.txt' })).toMatchObject({ status: 'succeeded' });
    client.close();
    await client.closed();
    await fixture.user.get(`/workspaces/${fixture.workspaceId}/roots`);
    // A client that reconnects, or whose token has expired, still has its folder.
    expect(await write('/proj/a.txt')).toMatchObject({ error: { code: 'CONFLICT' } });
  });

  it('are accepted from a user who has not connected the folder', async () => {
    await fixture.client({ roots: [aRoot('proj')] });
    const other = await server().register();
    const { id } = await other.createWorkspace();
    const { body } = await other.post<Session>(`/workspaces/${id}/sessions`, {});
    const call = { toolCallId: 'w', name: 'write', arguments: { path: '/proj/a.txt', content: 'y' } };
    const posted = await other.post<{ result: { toolResults: ToolResult[] } }>(
      `/workspaces/${id}/sessions/${body.sessionId}/turns`,
      { toolCalls: [call] },
    );
    expect(posted.body.result.toolResults).toMatchObject([{ status: 'succeeded' }]);
  });
});
