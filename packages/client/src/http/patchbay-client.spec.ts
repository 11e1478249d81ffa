import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PatchbayClient } from './patchbay-client.js';

interface Seen {
  method: string;
  url: string;
  token: string | undefined;
  body: Record<string, unknown> | null;
}
type Answer = { status: number; body?: unknown; retryAfter?: string } | 'hang up' | 'say nothing';
type Route = (seen: Seen) => Answer;

const credentials = (n: number, expiresIn = 900) => ({
  user: { id: 'u1', email: 'ada@example.com', fullName: null },
  accessToken: `access-${n}`,
  refreshToken: `refresh-${n}`,
  expiresIn,
});
const envelope = (kind: 'final' | 'client_tool_continuation', turnId: unknown) => ({
  successful: true,
  errors: [],
  warnings: [],
  result: {
    kind,
    sessionId: 's',
    conversationId: 'c',
    turnId,
    status: 'open',
    toolCalls: [],
    toolResults: [],
  },
});
const refused = { status: 401, body: { error: 'The token has expired.', code: 'INVALID_TOKEN' } };
const calls = [{ toolCallId: 'c1', name: 'ls', arguments: {} }];

describe('PatchbayClient', () => {
  let server: Server;
  let url: string;
  let seen: Seen[];
  let route: Route;

  beforeEach(async () => {
    seen = [];
    server = createServer((request, response) => {
      void read(request).then((text) => {
        const { method = '', url = '', headers } = request;
        const body = text ? (JSON.parse(text) as Record<string, unknown>) : null;
        const one = { method, url, token: headers.authorization?.replace('Bearer ', ''), body };
        seen.push(one);
        const answer = route(one);
        if (answer === 'hang up') return request.socket.destroy();
        if (answer === 'say nothing') return;
        const { body: said, retryAfter } = answer;
        const told = {
          'content-type': 'application/json',
          ...(retryAfter && { 'retry-after': retryAfter }),
        };
        response.writeHead(answer.status, told);
        response.end(said === undefined || typeof said === 'string' ? said : JSON.stringify(said));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const client = (options: object = {}) =>
    new PatchbayClient({ url, token: 'access-0', retryDelaysMs: [1, 1, 1], ...options });

  it('logs in and sends the token with later requests', async () => {
    route = ({ url }) =>
      url.endsWith('/login')
        ? { status: 200, body: credentials(1) }
        : { status: 200, body: { workspaces: [] } };
    const patchbay = new PatchbayClient({ url });
    const user = await patchbay.login({ email: 'ada@example.com', password: 'correct horse battery' });
    expect(user.email).toBe('ada@example.com');
    expect(await patchbay.workspaces()).toEqual([]);
    expect(seen.map(({ url, token }) => [url, token])).toEqual([
      ['/api/v1/auth/login', undefined],
      ['/api/v1/workspaces', 'access-1'],
    ]);
  });

  it('refuses to send anything but a login without a token', async () => {
    await expect(new PatchbayClient({ url }).workspaces()).rejects.toMatchObject({ code: 'INVALID_TOKEN' });
    expect(seen).toEqual([]);
  });

  it('waits when rate limited, for as long as the caller allows', async () => {
    const limited = { status: 429, body: { error: 'Too many.', code: 'RATE_LIMITED' }, retryAfter: '0' };
    route = () => (seen.length <= 2 ? limited : { status: 201, body: { id: 'w' } });
    const waits: number[] = [];
    const patient = { patienceMs: 5_000, onWait: (ms: number) => waits.push(ms) };
    expect(await client(patient).createWorkspace('x')).toEqual({ id: 'w' });
    expect(waits).toHaveLength(2);
  });

  it.each([
    ['its caller does not wait', {}, '1'],
    ['the server asks for a longer wait than allowed', { patienceMs: 1_000 }, '60'],
  ])('fails at once when rate limited and %s', async (_what, options, retryAfter) => {
    route = () => ({ status: 429, body: { error: 'Too many.', code: 'RATE_LIMITED' }, retryAfter });
    await expect(client(options).createWorkspace('x')).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      retryAfterMs: Number(retryAfter) * 1000,
    });
    expect(seen).toHaveLength(1);
  });

  it("takes the error code of a proxy's error page from its status", async () => {
    route = () => ({ status: 413 });
    await expect(client().createWorkspace('x')).rejects.toMatchObject({ code: 'TOO_LARGE', status: 413 });
  });

  it('reports why no answer came', async () => {
    const patchbay = client({ retryDelaysMs: [] });
    await new Promise((resolve) => server.close(resolve));
    await expect(patchbay.workspaces()).rejects.toMatchObject({
      code: 'NETWORK',
      message: expect.stringContaining('ECONNREFUSED') as string,
    });
  });

  it('exchanges a rejected token once for all requests that were rejected with it', async () => {
    route = ({ url, token }) => {
      if (url.endsWith('/refresh')) return { status: 200, body: credentials(1) };
      return token === 'access-1' ? { status: 200, body: { workspaces: [] } } : refused;
    };
    const patchbay = client({ refreshToken: 'refresh-0' });
    await Promise.all(Array.from({ length: 5 }, () => patchbay.workspaces()));
    const refreshes = seen.filter(({ url }) => url.endsWith('/refresh'));
    expect(refreshes.map(({ body }) => body)).toEqual([{ refreshToken: 'refresh-0' }]);
  });

  it('exchanges a token that is about to expire before it is used', async () => {
    route = ({ url }) => {
      if (url.endsWith('/login')) return { status: 200, body: credentials(1, 2) };
      if (url.endsWith('/refresh')) return { status: 200, body: credentials(2) };
      return { status: 200, body: { workspaces: [] } };
    };
    const patchbay = new PatchbayClient({ url });
    await patchbay.login({ email: 'ada@example.com', password: 'correct horse battery' });
    await patchbay.workspaces();
    expect(seen.map(({ url, token }) => `${url} ${token}`)).toEqual([
      '/api/v1/auth/login undefined',
      '/api/v1/auth/refresh undefined',
      '/api/v1/workspaces access-2',
    ]);
  });

  it('reports a rejected token if there is no refresh token', async () => {
    route = () => refused;
    await expect(client().workspaces()).rejects.toMatchObject({ code: 'INVALID_TOKEN', status: 401 });
    expect(seen).toHaveLength(1);
  });

  it('posts a turn again under the same turnId when the connection breaks or the server restarts', async () => {
    const answers: Answer[] = ['hang up', { status: 503, body: { error: 'Stopping.', code: 'UNAVAILABLE' } }];
    route = ({ body }) => answers.shift() ?? { status: 200, body: envelope('final', body!.turnId) };
    const outcome = await client().workspace('w1').postTurn('s1', { toolCalls: calls });
    expect(seen.map(({ url }) => url)).toEqual(Array(3).fill('/api/v1/workspaces/w1/sessions/s1/turns'));
    expect(new Set(seen.map(({ body }) => body!.turnId))).toEqual(new Set([outcome.turnId]));
  });

  it('does not repeat a request that could take effect twice', async () => {
    route = () => 'hang up';
    await expect(client().createWorkspace('x')).rejects.toMatchObject({ code: 'NETWORK' });
    expect(seen).toHaveLength(1);
  });

  it('polls a turn until every call has ended', async () => {
    route = () => {
      const final = seen.length === 3;
      return {
        status: final ? 200 : 202,
        body: envelope(final ? 'final' : 'client_tool_continuation', 't1'),
      };
    };
    const outcome = await client()
      .workspace('w1')
      .runTurn('s1', { turnId: 't1', toolCalls: calls, waitMs: 0, resultFormat: 'openai' });
    expect(outcome.kind).toBe('final');
    expect(seen[0]!.body).toMatchObject({ resultFormat: 'openai' });
    expect(seen.slice(1).map(({ url }) => url)).toEqual(
      Array(2).fill('/api/v1/workspaces/w1/sessions/s1/turns/t1?waitMs=30000&resultFormat=openai'),
    );
  });

  it('stops waiting for a turn when its signal is aborted', async () => {
    route = ({ method }) =>
      method === 'GET' ? 'say nothing' : { status: 202, body: envelope('client_tool_continuation', 't1') };
    const waiting = client().workspace('w1').runTurn('s1', { toolCalls: calls }, AbortSignal.timeout(50));
    await expect(waiting).rejects.toMatchObject({ name: 'TimeoutError' });
  });
});

async function read(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}
