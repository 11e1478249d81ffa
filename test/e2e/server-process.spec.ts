import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { chmod, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { InvokeResult, TurnResult } from '@patchbay/protocol';
import Libsql from 'libsql';
import { freePort, TestProcess } from '../support/processes.js';
import { registerUser, sendRequest } from '../support/test-user.js';
import { waitFor } from '../support/wait-for.js';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

/** The URL that the server says it listens on. */
async function urlOf(server: TestProcess): Promise<string> {
  const listening = /Listening on (http:\/\/[^\s"]+)/;
  await server.says(listening);
  return listening.exec(server.stdout)![1]!;
}

describe('the server process', () => {
  let dataDir: string;
  const processes: TestProcess[] = [];

  const run = (env: Record<string, string> = {}): TestProcess => {
    const server = new TestProcess('server', MAIN, [], { PORT: '0', PATCHBAY_DATA_DIR: dataDir, ...env });
    processes.push(server);
    return server;
  };

  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'patchbay-process-'));
  });
  afterEach(async () => {
    await Promise.all(processes.splice(0).map((server) => server.kill()));
    await rm(dataDir, { recursive: true, force: true });
  });

  it('listens, is live and ready, and stops in order on SIGTERM', async () => {
    const server = run();
    const url = await urlOf(server);
    expect(await (await fetch(`${url}/health/live`)).json()).toEqual({ status: 'live' });
    const ready = await fetch(`${url}/health/ready`);
    expect([ready.status, await ready.json()]).toEqual([
      200,
      { status: 'ready', checks: { server: 'ok', storage: 'ok' } },
    ]);
    server.signal('SIGTERM');
    expect((await server.exited).code).toBe(0);
    expect(server.stderr).toBe('');
  });

  it('finishes the server calls of a turn on SIGTERM, and answers with their results [FILE-6]', async () => {
    const server = run({ PATCHBAY_REGISTRATION: 'open' });
    const url = await urlOf(server);
    const user = await registerUser({ request: (...given) => sendRequest(url, ...given) });
    const { id } = await user.createWorkspace();
    const session = await user.post<{ sessionId: string }>(`/workspaces/${id}/sessions`, {});
    const toolCalls = Array.from({ length: 200 }, (_, n) => ({
      ...{ toolCallId: `c${n}`, name: 'write', arguments: { path: `/f${n}`, content: 'x' } },
    }));
    const turns = `/workspaces/${id}/sessions/${session.body.sessionId}/turns`;
    const answer = user.post<InvokeResult<TurnResult>>(turns, { turnId: 't', toolCalls });
    await waitFor(async () => (await user.get(`/workspaces/${id}/contents/f0`)).status === 200, 'a write');
    server.signal('SIGTERM');
    const { status, body } = await answer;
    expect([status, new Set(body.result.toolResults.map((ended) => ended.status))]).toEqual([
      200,
      new Set(['succeeded']),
    ]);
    expect((await server.exited).code).toBe(0);
  });

  it('serves its API documentation', async () => {
    const url = await urlOf(run());
    expect((await fetch(`${url}/api/docs`)).status).toBe(200);
    expect((await fetch(`${url}/api/docs/swagger-ui.css`)).status).toBe(200);
    const document = (await (await fetch(`${url}/api/docs-json`)).json()) as { paths: object };
    expect(Object.keys(document.paths)).toContain('/api/v1/workspaces');
  });

  it('does not serve API documentation when disabled', async () => {
    const url = await urlOf(run({ PATCHBAY_API_DOCS: 'off' }));
    for (const path of [
      '/api/docs',
      '/api/docs/',
      '/api/docs-json',
      '/api/docs-yaml',
      '/api/docs/swagger-ui.css',
    ]) {
      const answer = await fetch(`${url}${path}`);
      expect([path, answer.status, await answer.json()]).toMatchObject([path, 404, { code: 'NOT_FOUND' }]);
    }
  });

  it('registers the first account and no other by default [REQ-24]', async () => {
    const url = await urlOf(run());
    const register = async (email: string) => {
      const body = JSON.stringify({ email, password: 'correct horse battery' });
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`${url}/api/v1/auth/register`, { method: 'POST', headers, body });
      return [answer.status, await answer.text()] as const;
    };
    expect((await register('ada@example.com'))[0]).toBe(201);
    const [status, text] = await register('eve@example.com');
    expect(status).toBe(403);
    expect(text).toContain('PATCHBAY_REGISTRATION=open');
  });

  it('does not start with a misspelt variable of its own, and warns of other unknown ones', async () => {
    const slip = run({ PATCHBAY_REGISTATION: 'closed' });
    expect((await slip.exited).code).toBe(1);
    expect(slip.stderr).toBe(
      'patchbay: bad configuration: PATCHBAY_REGISTATION is not a variable of the server; did you mean PATCHBAY_REGISTRATION?\n',
    );
    const other = run({ PATCHBAY_FAVOURITE_COLOUR: 'red', PATCHBAY_TOKEN: 'x' });
    await urlOf(other);
    expect(other.stdout).toContain('PATCHBAY_FAVOURITE_COLOUR is not a variable of the server');
    expect(other.stdout).not.toContain('PATCHBAY_TOKEN');
  });

  it('makes its secret file private, also one that was readable by others', async () => {
    const server = run();
    await urlOf(server);
    const file = join(dataDir, 'jwt-secret');
    const mode = async (): Promise<number> => (await stat(file)).mode & 0o777;
    expect(await mode()).toBe(0o600);
    await server.kill();
    await chmod(file, 0o644);
    await urlOf(run());
    expect(await mode()).toBe(0o600);
  });

  it('lists every invalid variable in one line and exits with 1', async () => {
    const server = run({ PORT: 'x', PATCHBAY_GRACE_MS: '-1' });
    expect((await server.exited).code).toBe(1);
    expect(server.stderr).toBe(
      'patchbay: bad configuration: PORT must be a whole number from 0 to 65535, not "x"; ' +
        'PATCHBAY_GRACE_MS must be a whole number from 0 to 3600000, not "-1"\n',
    );
    expect(server.stdout).toBe('');
  });

  it('reports that its port is in use', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as { port: number };
    const server = run({ PORT: String(port) });
    expect((await server.exited).code).toBe(1);
    expect(server.stderr).toBe(`patchbay: port ${port} of 127.0.0.1 is in use; set PORT to another one\n`);
    expect(server.stdout).toBe('');
    holder.close();
  });

  it('does not start on a data directory of another running server', async () => {
    await urlOf(run());
    const second = run();
    expect((await second.exited).code).toBe(1);
    expect(second.stderr).toMatch(/^patchbay: .*in use.*\n$/);
  });

  it.each([
    ['an older version', 0],
    ['a newer version', 1_000_000],
  ])('reports in one line a data directory of %s', async (_what, version) => {
    const first = run();
    await urlOf(first);
    await first.kill();
    const database = new Libsql(join(dataDir, 'patchbay.db'));
    database.exec(`PRAGMA user_version=${version}`);
    database.close();
    const server = run();
    expect((await server.exited).code).toBe(1);
    expect(server.stderr).toMatch(
      new RegExp(
        `^patchbay: The data directory ${dataDir} has schema version ${version}, .*PATCHBAY_DATA_DIR.*\\n$`,
      ),
    );
  });

  it('reports in one line a data directory without data of Patchbay', async () => {
    await writeFile(join(dataDir, 'patchbay.db'), 'a text\n'.repeat(1000));
    const server = run();
    expect((await server.exited).code).toBe(1);
    expect(server.stderr).toMatch(
      new RegExp(`^patchbay: The data directory ${dataDir} has no schema version of Patchbay.*\\n$`),
    );
  });

  describe('whose log goes nowhere', () => {
    /** Has a thousand requests logged, and ends the server in order. */
    async function isLive(server: TestProcess, url: string): Promise<void> {
      for (let round = 0; round < 10; round += 1) {
        const asked = Array.from({ length: 100 }, () => fetch(`${url}/api/v1/none?round=${round}`));
        for (const { status } of await Promise.all(asked)) expect([404, 429]).toContain(status);
        expect((await fetch(`${url}/health/live`)).status).toBe(200);
      }
      expect(server.running).toBe(true);
      server.signal('SIGTERM');
      expect(await server.exited).toEqual({ code: 0, signal: null });
      expect(server.stderr).toBe('');
    }

    it('runs on and stops on SIGTERM when the disk under its log is full', async () => {
      const port = String(await freePort());
      const full = openSync('/dev/full', 'w');
      const env = { PORT: port, PATCHBAY_DATA_DIR: dataDir, PATCHBAY_LOG_LEVEL: 'trace' };
      const server = new TestProcess('server', MAIN, [], env, full);
      closeSync(full);
      processes.push(server);
      const url = `http://127.0.0.1:${port}`;
      const answers = () =>
        fetch(`${url}/health/live`).then(
          ({ ok }) => ok,
          () => false,
        );
      await waitFor(answers, 'the server to listen', 25_000);
      await isLive(server, url);
    });

    it('runs on and stops on SIGTERM when nobody reads the pipe', async () => {
      const server = run({ PATCHBAY_LOG_LEVEL: 'trace' });
      const url = await urlOf(server);
      server.closeStdout();
      await isLive(server, url);
    });

    it('runs on and stops on SIGTERM when the reader of the pipe is stopped', async () => {
      const server = run({ PATCHBAY_LOG_LEVEL: 'trace' });
      const url = await urlOf(server);
      server.pauseStdout();
      await isLive(server, url);
    });
  });

  it('stops at once on a second signal', async () => {
    const server = run({ PATCHBAY_DRAIN_MS: '60000' });
    const url = await urlOf(server);
    // A request whose body never comes keeps the first signal waiting.
    const hanging = fetch(`${url}/api/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(new Uint8Array([0x7b])),
      }),
      duplex: 'half',
    }).catch(() => null);
    await new Promise((resolve) => setTimeout(resolve, 200));
    server.signal('SIGTERM');
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect((await fetch(`${url}/health/ready`).catch(() => null))?.status ?? 503).toBe(503);
    server.signal('SIGTERM');
    expect((await server.exited).code).toBe(1);
    await hanging;
  });
});
