import type { CloudFilePage, Session, StoredFile, WorkspacePage } from '@patchbay/protocol';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeClient } from '../support/fake-client.js';
import { CLIENT, TestProcess } from '../support/processes.js';
import { createCall } from '../support/relay-fixture.js';
import { documentedBlock, ReverseProxy } from '../support/reverse-proxy.js';
import { PASSWORD, startTestServer, type TestServer } from '../support/server.js';
import { describeWith } from '../support/system-commands.js';
import { sendRequest, TestUser } from '../support/test-user.js';
import { waitFor } from '../support/wait-for.js';

const MIB = 1024 * 1024;
const BODY = 16 * MIB;
/** Of all servers. */
const log: string[] = [];

/** The address in the last line of a failed login. */
function loggedAddress(): unknown {
  const line = log.findLast((one) => one.includes('A login failed'))!;
  return (JSON.parse(line) as { address: unknown }).address;
}

/** Status of a login with a wrong password from 127.0.0.2, which claims to come from elsewhere. */
function failedLogin(url: string): Promise<number | undefined> {
  const body = JSON.stringify({ email: 'nobody@example.com', password: 'wrong' });
  return new Promise((resolve, reject) => {
    const headers = {
      ...{ 'content-type': 'application/json', 'x-forwarded-for': '203.0.113.9' },
      ...{ forwarded: 'for=203.0.113.9', 'x-real-ip': '203.0.113.9' },
    };
    const options = { method: 'POST', headers, localAddress: '127.0.0.2' };
    const login = request(`${url}/api/v1/auth/login`, options, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    login.on('error', reject).end(body);
  });
}

describe.each(['nginx', 'caddy'] as const)('configured as in docs/operations.md,', (kind) => {
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

    it('forwards the API, a relay connection and a long request [REQ-30]', async () => {
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

    it('forwards bodies up to the limit and the rejection of larger ones', async () => {
      const bytes = Buffer.alloc(BODY, 'x');
      expect((await put('large.bin', bytes)).status).toBe(201);
      const read = await user.get<string>(`/workspaces/${workspaceId}/contents/large.bin`);
      expect(read.body).toHaveLength(BODY);
      const refused = await put('larger.bin', Buffer.alloc(BODY + 1, 'x'));
      expect(refused).toMatchObject({ status: 413, body: { code: 'TOO_LARGE' } });
    });

    it('forwards a path unchanged, escapes included', async () => {
      expect((await put('a%20b%2525.txt', Buffer.from('x'))).status).toBe(201);
      const { body } = await user.get<CloudFilePage>(`/workspaces/${workspaceId}/files?prefix=a`);
      expect(body.files.map(({ path }) => path)).toEqual(['/a b%25.txt']);
    });

    it('reports the address of the client, whatever headers the client sends', async () => {
      log.length = 0;
      expect(await failedLogin(url)).toBe(401);
      expect(loggedAddress()).toBe('127.0.0.2');
    });

    // Caddy has no setting for this.
    const forms = [
      '$remote_addr:$remote_port',
      '[$remote_addr]:$remote_port',
      '[::ffff:$remote_addr]:$remote_port',
      '::ffff:$remote_addr%eth0',
      '"$remote_addr:$remote_port"',
      '$http_x_forwarded_for, $remote_addr:$remote_port',
    ];
    if (kind === 'nginx')
      it.each(forms)('counts the client where it writes %s into X-Forwarded-For [REQ-21]', async (form) => {
        log.length = 0;
        const other = await ReverseProxy.start(kind, new URL(server.url).host, form);
        try {
          expect(await failedLogin(`${other.origin}/patchbay`)).toBe(401);
          expect(loggedAddress()).toBe('127.0.0.2');
        } finally {
          await other.stop();
        }
      });

    it('forwards nothing outside the base path', async () => {
      const answer = await fetch(`${proxy.origin}/api/v1/workspaces`);
      expect(await answer.text()).not.toContain('PATCHBAY_BASE_PATH');
    });
  });
});

describeWith('nginx', 'nginx with TLS as in docs/operations.md', () => {
  let server: TestServer;
  let proxy: ReverseProxy;
  let user: TestUser;
  let directory: string;
  let env: Record<string, string>;
  const running: TestProcess[] = [];

  beforeAll(async () => {
    server = await startTestServer({ config: { basePath: '/patchbay', trustedProxies: ['127.0.0.1'] } });
    proxy = await ReverseProxy.start('nginx', new URL(server.url).host);
    user = await server.register();
    directory = await mkdtemp(join(tmpdir(), 'patchbay-tls-'));
    await mkdir(join(directory, 'proj'));
    env = {
      ...proxy.trust,
      PATCHBAY_URL: `${proxy.tlsOrigin}/patchbay`,
      PATCHBAY_HOME: join(directory, 'home'),
      PATCHBAY_PASSWORD: PASSWORD,
    };
  });
  afterAll(async () => {
    await Promise.all(running.map((process) => process.kill()));
    await proxy.stop();
    await server.close();
    await rm(directory, { recursive: true });
  });

  const patchbay = (args: string[], more: Record<string, string> = {}): TestProcess => {
    const process = new TestProcess(args[0]!, CLIENT, args, { ...env, ...more });
    running.push(process);
    return process;
  };

  it('carries a login, a connected folder and a call; a client that does not trust the certificate gets an error', async () => {
    const stranger = patchbay(['login', '--email', user.email], { NODE_EXTRA_CA_CERTS: '' });
    expect((await stranger.exited).code).toBe(4);
    expect(stranger.stderr).toContain('certificate');
    const login = patchbay(['login', '--email', user.email]);
    expect((await login.exited).code).toBe(0);

    const { id: workspaceId } = (await user.get<WorkspacePage>('/workspaces')).body.workspaces[0]!;
    const editor = patchbay(['connect', '--root', join(directory, 'proj'), '--yes']);
    await editor.says(/^connected$/m);
    const { body } = await user.post<Session>(`/workspaces/${workspaceId}/sessions`, {});
    const turns = `/workspaces/${workspaceId}/sessions/${body.sessionId}/turns`;
    const posted = await user.post(turns, { toolCalls: [createCall('c1', 'proj/a.txt')], waitMs: 20_000 });
    expect(posted.status).toBe(200);
    expect(await readdir(join(directory, 'proj'))).toEqual(['a.txt']);
    const status = patchbay(['status', join(directory, 'proj')]);
    expect((await status.exited).code).toBe(0);
    expect(status.stdout).toContain(`Server     ${proxy.tlsOrigin}/patchbay`);
  });
});

describe('the configuration of nginx', () => {
  it('has a timeout above that of a request [TURN-4]', async () => {
    const seconds = Number(/proxy_read_timeout (\d+)s;/.exec(await documentedBlock('nginx'))?.[1]);
    expect(seconds).toBeGreaterThan(300);
  });
});
