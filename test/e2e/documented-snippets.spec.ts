import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { RelayClient } from '@patchbay/client/relay';
import OpenAI from 'openai';
import { allowsAll } from '../support/approvers.js';
import { describeEmbedded } from '../support/backend.js';
import { freePort, ServerProcess } from '../support/processes.js';
import { createCall, RelayFixture } from '../support/relay-fixture.js';
import { runSnippet, snippetOf } from '../support/snippets.js';
import { PASSWORD, registerUser, type TestUser } from '../support/test-user.js';

const ROOT = join(import.meta.dirname, '../..');

/** A server that answers chat completions, in their order, as OpenAI does. */
async function chatServer(answers: object[]): Promise<{ server: Server; url: string; asked: unknown[] }> {
  const asked: unknown[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      asked.push(JSON.parse(body));
      const message = { role: 'assistant', content: null, ...answers[asked.length - 1] };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ id: 'c', object: 'chat.completion', choices: [{ index: 0, message }] }));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

describe('The agent in the README', () => {
  it('lets a model call tools until it answers in words', async () => {
    const fixture = await RelayFixture.start();
    const call = (id: string, name: string, args: object) => {
      return { id, type: 'function', function: { name, arguments: JSON.stringify(args) } };
    };
    const { server, url, asked } = await chatServer([
      {
        tool_calls: [
          call('c1', 'write', { path: '/a.txt', content: 'hello' }),
          call('c2', 'read', { path: '..' }),
        ],
      },
      { tool_calls: [call('c3', 'read', { path: '/a.txt' })] },
      { content: 'It says hello.' },
    ]);
    const messages = await runSnippet<{ role: string; tool_call_id?: string; content: string }[]>(
      await snippetOf('README.md', 'For agent backends', 'ts'),
      {
        ...{
          url: fixture.server.url,
          email: fixture.user.email,
          password: PASSWORD,
          task: 'What is in a.txt?',
        },
        ...{ model: 'a-model', openai: new OpenAI({ baseURL: url, apiKey: 'none' }) },
      },
      'messages',
    );
    server.close();
    await fixture.close();
    expect(messages.map(({ role, tool_call_id: id }) => id ?? role)).toEqual([
      ...['system', 'user', 'assistant', 'c1', 'c2', 'assistant', 'c3', 'assistant'],
    ]);
    expect(messages.at(-4)!.content).toContain('INVALID_ARGUMENTS');
    expect(messages.at(-2)!.content).toContain('hello');
    expect(asked[2]).toMatchObject({
      model: 'a-model',
      tools: expect.arrayContaining([expect.objectContaining({ type: 'function' })]) as object[],
    });
  });
});

describe('The editor without a disk in docs/editors.md', () => {
  it('executes calls on its texts', async () => {
    const fixture = await RelayFixture.start();
    const relay = await runSnippet<RelayClient>(
      await snippetOf('docs/editors.md', 'An editor without a disk, or a web page', 'ts'),
      {
        ...{ url: fixture.server.url, token: fixture.user.token, workspaceId: fixture.workspaceId },
        ...{ clientId: 'page', rootId: randomUUID(), approver: allowsAll },
      },
      'relay',
    );
    const { body } = await fixture.post([createCall('c', 'notes/new.md')], { waitMs: 20_000 });
    await relay.close();
    await fixture.close();
    expect(body.result.toolResults).toMatchObject([{ status: 'succeeded' }]);
  });
});

// The commands name a data directory.
describeEmbedded('The commands for operators and auditors in the README', () => {
  let directory: string;
  let server: ServerProcess;
  let user: TestUser;
  let workspaceId: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'patchbay-readme-'));
    for (const name of ['dist', 'node_modules']) await symlink(join(ROOT, name), join(directory, name));
    server = await ServerProcess.start(join(directory, '.patchbay'), await freePort());
    user = await registerUser(server);
    workspaceId = (await user.createWorkspace()).id;
    const root = { name: 'proj', rootId: randomUUID() };
    await user.request('PUT', `/workspaces/${workspaceId}/roots/proj`, root);
    const { body } = await user.post<{ sessionId: string }>(`/workspaces/${workspaceId}/sessions`, {});
    const turns = `/workspaces/${workspaceId}/sessions/${body.sessionId}/turns`;
    const toolCalls = [createCall('c', 'proj/src/a.ts')];
    await user.post(turns, { turnId: 't', toolCalls, waitMs: 0 });
    const approval = { decision: 'deny', by: 'ada', at: new Date().toISOString() };
    await user.post(`${turns}/t/results`, { results: [{ toolCallId: 'c', result: null, approval }] });
  }, 60_000);
  afterAll(async () => {
    await server.kill();
    await rm(directory, { recursive: true });
  });

  it('do what their comments say', async () => {
    const env = {
      ...{ PATH: process.env.PATH, HOME: directory, PATCHBAY_HOME: join(directory, 'home') },
      ...{ PATCHBAY_URL: server.url, PATCHBAY_TOKEN: user.token, PATCHBAY_WORKSPACE: workspaceId },
    };
    const said: string[] = [];
    for (const line of (await snippetOf('README.md', 'For operators and auditors', 'sh'))
      .trim()
      .split('\n')) {
      const { stdout } = await promisify(execFile)('sh', ['-c', line], { cwd: directory, env });
      said.push(stdout);
    }
    const [audit, denied, check, backup] = said;
    expect(audit).toContain('CreateFile.Accepted');
    expect(
      denied!
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { name: string }).name),
    ).toEqual(['Tool.CreateFile.Denied']);
    expect([check, backup]).toEqual([expect.stringMatching(/./), expect.stringContaining('today.db')]);
  }, 60_000);
});
