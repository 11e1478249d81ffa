import type { CloudFilePage, Session, StoredFile } from '@patchbay/protocol';
import { request } from 'node:http';
import { FakeClient } from '../support/fake-client.js';
import { createCall } from '../support/relay-scene.js';
import { documentedBlock, ReverseProxy } from '../support/reverse-proxy.js';
import { startTestServer, type TestServer } from '../support/server.js';
import { describeWith } from '../support/system-commands.js';
import { sendRequest, TestUser } from '../support/test-user.js';
import { waitFor } from '../support/wait-for.js';

const MIB = 1024 * 1024;
const BODY = 16 * MIB;
/** Of all servers: nestjs-pino keeps one logger a process, that of the first. */
const log: string[] = [];

describe.each(['nginx', 'caddy'] as const)('as docs/operations.md has it,', (kind) => {
  describeWith(kind, kind, () => {
    let server: TestServer;
    let proxy: ReverseProxy;
    let url: string;
    let user: TestUser;
    let workspaceId: string;

    beforeAll(async () => {
      server = await startTestServer({
        config: {
          ...{ basePath: '/patchbay', trustedProxies: ['127.0.0.1'], logLevel: 'info', rateLimit: 1000 },
          maxFileBytes: BODY,
        },
        logDestination: { write: (line: string) => void log.push(line) },
      });
      proxy = await ReverseProxy.start(kind, new URL(server.url).host);
      url = `${proxy.origin}/patchbay`;
      const { credentials } = await server.register();
      user = new TestUser(
        { request: (method, path, body, headers) => sendRequest(url, method, path, body, headers) },
        credentials,
      );
      workspaceId = (await user.createWorkspace()).id;
    });
    afterAll(async () => {
      await proxy.stop();
      await server.close();
    });

    const put = (path: string, bytes: Uint8Array) =>
      sendRequest<StoredFile>(url, 'PUT', `/workspaces/${workspaceId}/contents/${path}`, bytes, {
        authorization: `Bearer ${user.token}`,
        'content-type': 'application/octet-stream',
      });

    it('passes the API, a relay and a request that waits [REQ-30]', async () => {
      const { token } = user;
      // A page of the server's own: the Host that arrives has to be the one that was asked for, with its port.
      const headers = { origin: proxy.origin };
      const client = await FakeClient.ready({ url, token, workspaceId, headers });
      const { body } = await user.post<Session>(`/workspaces/${workspaceId}/sessions`, {});
      const turns = `/workspaces/${workspaceId}/sessions/${body.sessionId}/turns`;
      const waiting = user.post(turns, { toolCalls: [createCall('c1')], waitMs: 20_000 });
      await waitFor(() => client.calls.length === 1, 'the call');
      await client.report(client.calls[0]!);
      expect((await waiting).status).toBe(200);
      client.close();
    });

    it('passes bodies up to the limit, and the refusal of larger ones', async () => {
      const bytes = Buffer.alloc(BODY, 'x');
      expect((await put('large.bin', bytes)).status).toBe(201);
      const read = await user.get<string>(`/workspaces/${workspaceId}/contents/large.bin`);
      expect(read.body).toHaveLength(BODY);
      const refused = await put('larger.bin', Buffer.alloc(BODY + 1, 'x'));
      expect(refused).toMatchObject({ status: 413, body: { code: 'TOO_LARGE' } });
    });

    it('passes a path on as it came, escapes included', async () => {
      expect((await put('a%20b%2525.txt', Buffer.from('x'))).status).toBe(201);
      const { body } = await user.get<CloudFilePage>(`/workspaces/${workspaceId}/files?prefix=a`);
      expect(body.files.map(({ path }) => path)).toEqual(['/a b%25.txt']);
    });

    it('says who asks, whatever they claim', async () => {
      log.length = 0;
      const body = JSON.stringify({ email: 'nobody@example.com', password: 'wrong' });
      const answered = new Promise<number | undefined>((resolve, reject) => {
        const headers = { 'content-type': 'application/json', 'x-forwarded-for': '203.0.113.9' };
        const options = { method: 'POST', headers, localAddress: '127.0.0.2' };
        const login = request(`${url}/api/v1/auth/login`, options, (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        });
        login.on('error', reject).end(body);
      });
      expect(await answered).toBe(401);
      const line = log.findLast((one) => one.includes('A login failed'))!;
      expect(JSON.parse(line)).toMatchObject({ address: '127.0.0.2' });
    });

    it('passes nothing that is not below the base path', async () => {
      const answer = await fetch(`${proxy.origin}/api/v1/workspaces`);
      expect(await answer.text()).not.toContain('PATCHBAY_BASE_PATH');
    });
  });
});

describe('the configuration of nginx', () => {
  it('waits longer than a request may [TURN-4]', async () => {
    const seconds = Number(/proxy_read_timeout (\d+)s;/.exec(await documentedBlock('nginx'))?.[1]);
    expect(seconds).toBeGreaterThan(300);
  });
});
