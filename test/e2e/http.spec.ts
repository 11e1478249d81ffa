import { once } from 'node:events';
import { connect } from 'node:net';
import { suiteFixture } from '../support/fixtures.js';
import { startTestServer, type TestServer } from '../support/server.js';
import { DomainError } from '../../src/common/domain-error.js';
import { Lifecycle } from '../../src/common/lifecycle.js';
import { answerOf } from '../../src/common/http/error-answer.js';
import { exchange } from '../support/exchange.js';

describe('a route', () => {
  const server = suiteFixture(() => startTestServer());
  const ada = suiteFixture(() => server.register());
  let workspaceId: string;
  let turns: string;

  beforeAll(async () => {
    workspaceId = (await ada.createWorkspace()).id;
    const sessions = `/workspaces/${workspaceId}/sessions`;
    const { body } = await ada.post<{ sessionId: string }>(sessions, {});
    turns = `${sessions}/${body.sessionId}/turns`;
    const toolCalls = [
      { toolCallId: 'c', name: 'workspace_create_file', arguments: { path: 'a', content: '' } },
    ];
    const posted = await ada.post(turns, { turnId: 't', waitMs: 0, toolCalls });
    expect(posted.status).toBe(202);
  });

  const refusal = (fields: object) => ({ status: 400, body: { code: 'VALIDATION_ERROR', fields } });

  it.each(['cancel', 'tool-calls/c/cancel'])(
    'that takes no body rejects one that is not empty: POST %s [REQ-5]',
    async (path) => {
      const unknown = refusal({ x: 'is not a known property' });
      expect(await ada.post(`${turns}/t/${path}`, { x: 1 })).toMatchObject(unknown);
      const noObject = refusal({ body: 'must be an object' });
      expect(await ada.post(`${turns}/t/${path}`, [])).toMatchObject(noObject);
    },
  );

  it.each([
    ['none', undefined],
    ['{}', {}],
    ['null', null],
  ])('that takes no body accepts %s', async (_, body) => {
    expect((await ada.post(`${turns}/t/cancel`, body)).status).toBe(200);
  });

  it('that takes no query rejects one [REQ-5]', async () => {
    const unknown = refusal({ foo: 'is not a known property' });
    expect(await ada.get('/workspaces?foo=1')).toMatchObject(unknown);
    expect(await ada.get(`/workspaces/${workspaceId}?foo=1`)).toMatchObject(unknown);
    expect(await ada.post('/workspaces?foo=1', { name: 'w' })).toMatchObject(unknown);
  });
});

/** An upgrade to the relay; null leaves a header out. */
function upgrade(headers: Record<string, string | null>, query = 'EIO=4&transport=websocket'): string {
  const all = {
    ...{ Host: 'x', Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13' },
    ...{ 'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==', ...headers },
  };
  const lines = Object.entries(all).flatMap(([name, value]) =>
    value === null ? [] : [`${name}: ${value}\r\n`],
  );
  return `GET /socket.io/?${query} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

describe('an error', () => {
  const server = suiteFixture(() =>
    startTestServer({
      config: { logLevel: 'info' },
      logDestination: { write: (line: string) => void lines.push(line) },
    }),
  );
  const ada = suiteFixture(() => server.register());
  const lines: string[] = [];

  it.each([
    ['GET', '/nothing'],
    ['DELETE', '/workspaces'],
    ['POST', '/auth/nothing'],
    ['OPTIONS', '/workspaces'],
    ['GET', '/workspaces//sessions'],
    ['DELETE', '/workspaces/01a2166d-66db-71f9-8adc-cedc911d2d45/members/'],
  ])('is a 404 for an unknown route or method: %s %s', async (method, path) => {
    const { status, body } = await ada.request(method, path);
    expect({ status, body }).toEqual({ status: 404, body: { error: 'No such route', code: 'NOT_FOUND' } });
  });

  it.each(['/workspaces/%zz', '/workspaces/%ff', '/workspaces?x=%zz', '/workspaces?x=%ff'])(
    'is a 400 for bad percent-encoding: %s',
    async (path) => {
      const { status, body } = await ada.get(path);
      expect({ status, body }).toEqual({
        status: 400,
        body: { error: expect.any(String) as string, code: 'VALIDATION_ERROR' },
      });
    },
  );

  it('names the id that is too long', async () => {
    expect(await ada.get(`/workspaces/${'a'.repeat(9000)}`)).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_ERROR' },
    });
  });

  it('has the same form for a request that is not HTTP', async () => {
    const answer = await exchange(server, 'GET / HTTP/9.9\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(JSON.parse(answer.slice(answer.indexOf('{')))).toEqual({
      error: 'The request is not readable as HTTP',
      code: 'VALIDATION_ERROR',
    });
  });

  it.each([
    ['a request without Host', 'GET /api/v1/workspaces HTTP/1.1\r\n\r\n', 400, 'Host'],
    ['health without Host', 'GET /health/live HTTP/1.1\r\n\r\n', 400, 'Host'],
    ['an unknown expectation', 'GET / HTTP/1.1\r\nHost: x\r\nExpect: 200-ok\r\n\r\n', 417, '100-continue'],
    ['CONNECT', 'CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n', 404, 'CONNECT'],
    [
      'an upgrade that there is none for',
      'GET /api/v1/workspaces HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n',
      400,
      'upgrade',
    ],
    [
      'long polling of the relay',
      'GET /socket.io/?EIO=4&transport=polling HTTP/1.1\r\nHost: x\r\n\r\n',
      400,
      'websocket',
    ],
    ['a websocket without a key', upgrade({ 'Sec-WebSocket-Key': null }), 400, 'websocket handshake'],
    ['a websocket with a bad key', upgrade({ 'Sec-WebSocket-Key': 'short' }), 400, 'websocket handshake'],
    ['a websocket of another version', upgrade({ 'Sec-WebSocket-Version': '7' }), 400, 'websocket handshake'],
    ['an upgrade of the relay to another protocol', upgrade({ Upgrade: 'h2c' }), 400, 'websocket'],
    ['a websocket for another transport', upgrade({}, 'EIO=4&transport=polling'), 400, 'websocket'],
    ['a websocket of an older Engine.IO', upgrade({}, 'EIO=3&transport=websocket'), 400, 'EIO=4'],
    ['a websocket of a second transport', upgrade({}, 'EIO=4&transport=websocket&sid=x'), 400, 'websocket'],
    ['a websocket of another site', upgrade({ Origin: 'https://evil.example.com' }), 403, 'PATCHBAY_ORIGINS'],
    ['a websocket that only says so', upgrade({ Connection: null }), 400, 'websocket'],
    ['bad percent-encoding', 'GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'percent-encoding'],
    ['an unknown method', 'BREW / HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'HTTP'],
    ['a header that is none', 'GET / HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n', 400, 'HTTP'],
    ['a space in a header name', 'GET / HTTP/1.1\r\nHost : x\r\n\r\n', 400, 'HTTP'],
    [
      'two lengths',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
      400,
      'HTTP',
    ],
    [
      'a length beside chunks',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
      400,
      'HTTP',
    ],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, 'HTTP'],
    ['large headers', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 413, 'headers'],
  ])('has the same form for %s [REQ-61]', async (_what, bytes, status, named) => {
    const answer = await exchange(server, bytes);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(answer.toLowerCase()).toContain('content-type: application/json');
    expect(answer).toMatch(/\r\nx-request-id: [\w.:-]{1,64}\r\n/i);
    const body = JSON.parse(answer.slice(answer.indexOf('{'), answer.lastIndexOf('}') + 1)) as object;
    expect(Object.keys(body)).toEqual(['error', 'code']);
    expect(body).toMatchObject({ error: expect.stringContaining(named) as string });
  });

  it('below the path of the relay has the request id of the caller, in the answer and in one log line [REQ-60]', async () => {
    for (const [bytes, id] of [
      [upgrade({ 'Sec-WebSocket-Key': 'short', 'X-Request-Id': 'a-socket' }), 'a-socket'],
      ['GET /%zz HTTP/1.1\r\nHost: x\r\nX-Request-Id: a-path\r\n\r\n', 'a-path'],
    ] as const) {
      expect((await exchange(server, bytes)).toLowerCase()).toContain(`x-request-id: ${id}`);
      expect(lines.filter((line) => line.includes(`"requestId":"${id}"`))).toHaveLength(1);
    }
  });

  it('is not the answer to a request without Host that Node accepts', async () => {
    expect(await exchange(server, 'GET /health/live HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
    const continued =
      'POST /api/v1/auth/logout HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n';
    expect(await exchange(server, continued)).toMatch(/^HTTP\/1\.1 (100|4)/);
  });

  it('reveals nothing when it is unexpected', () => {
    const { status, body, unexpected } = answerOf(new Error('SELECT secret FROM users failed'));
    expect({ status, body, unexpected }).toEqual({
      status: 500,
      body: { error: 'Internal server error', code: 'INTERNAL_ERROR' },
      unexpected: true,
    });
  });

  it('is unexpected too when it brings its own status', () => {
    expect(answerOf(Object.assign(new Error('x'), { code: 'ENOENT', statusCode: 404 })).status).toBe(500);
  });

  it('has the message of the domain error [REQ-1]', () => {
    const error = new DomainError('CONFLICT', 'taken', {
      fields: { name: 'is taken' },
      details: { internal: true },
    });
    expect(answerOf(error).body).toEqual({ error: 'taken', code: 'CONFLICT', fields: { name: 'is taken' } });
  });
});

describe('a browser page', () => {
  const origin = 'https://editor.example.com';
  const preflight = (server: TestServer, from: string) =>
    server.request('OPTIONS', '/workspaces', undefined, {
      origin: from,
      'access-control-request-method': 'DELETE',
      'access-control-request-headers': 'authorization',
    });

  it('gets CORS headers for an allowed origin only', async () => {
    const server = await startTestServer({ config: { origins: [origin] } });
    const { status, headers } = await preflight(server, origin);
    expect(status).toBe(204);
    expect(headers.get('access-control-allow-origin')).toBe(origin);
    expect(headers.get('access-control-allow-methods')).toContain('DELETE');
    const foreign = await preflight(server, 'https://evil.example.com');
    expect(foreign.headers.get('access-control-allow-origin')).toBeNull();
    await server.close();
  });
});

describe('a server that stops', () => {
  it('rejects new requests, is not ready, and answers requests that have begun', async () => {
    const server = await startTestServer();
    const begun = connect(Number(new URL(server.url).port), '127.0.0.1').setEncoding('utf8');
    const arrived = once(server.app.getHttpServer(), 'request');
    begun.write(
      'POST /api/v1/auth/refresh HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 21\r\n\r\n{',
    );
    await arrived;
    // Requests of one sender begin in the order in which they came.
    expect(await server.request('GET', '/workspaces')).toMatchObject({ status: 401 });
    server.app.get(Lifecycle).stop();
    expect(await server.request('GET', '/workspaces')).toMatchObject({
      status: 503,
      body: { code: 'UNAVAILABLE' },
    });
    expect(await server.get('/health/live')).toMatchObject({ status: 200 });
    expect(await server.get('/health/ready')).toMatchObject({
      status: 503,
      body: { status: 'not ready', checks: { server: 'stopping', storage: 'ok' } },
    });
    const closed = server.close();
    const answered = once(begun, 'data');
    begun.write('"refreshToken":"xy"}');
    expect(String(await answered)).toMatch(/^HTTP\/1\.1 401 /);
    // Though its connection is still open.
    await closed;
    begun.destroy();
  });
});
