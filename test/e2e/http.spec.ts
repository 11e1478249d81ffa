import { once } from 'node:events';
import { connect } from 'node:net';
import { startTestServer, type TestServer, type TestUser } from '../support/server.js';
import { DomainError } from '../../src/common/domain-error.js';
import { Lifecycle } from '../../src/common/lifecycle.js';
import { answerOf } from '../../src/common/http/error-answer.js';
import { exceedsDepth } from '../../src/common/http/read-body.js';

const LIMIT = 64 * 1024;

describe('a request body', () => {
  let server: TestServer;
  let ada: TestUser;

  beforeAll(async () => {
    server = await startTestServer({ config: { maxBodyBytes: LIMIT } });
    ada = await server.register();
  });
  afterAll(() => server.close());

  const send = (body: string | Uint8Array, headers: Record<string, string> = {}) =>
    server.request('POST', '/workspaces', body, { authorization: `Bearer ${ada.token}`, ...headers });
  const refusal = (status: number, code: string) => ({
    status,
    body: { error: expect.any(String) as string, code },
  });

  it.each([
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
  ])('is taken as %s', async (contentType) => {
    expect((await send('{"name":"w"}', { 'content-type': contentType })).status).toBe(201);
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/json; charset=latin1',
    'nonsense',
    'a/b/c',
    '',
  ])('is not taken as "%s"', async (contentType) => {
    expect(await send('{"name":"w"}', { 'content-type': contentType })).toMatchObject(
      refusal(415, 'UNSUPPORTED_MEDIA_TYPE'),
    );
  });

  it('is not taken compressed', async () => {
    expect(await send('{"name":"w"}', { 'content-encoding': 'gzip' })).toMatchObject(
      refusal(415, 'UNSUPPORTED_MEDIA_TYPE'),
    );
  });

  it.each([
    ['no JSON', '{"name":'],
    ['JSON with something behind it', '{"name":"w"}x'],
    ['not UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['a half character in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ['nested too deep', '['.repeat(251) + ']'.repeat(251)],
    ['nested without end', '['.repeat(60_000)],
  ])('that is %s is malformed [REQ-6]', async (_, body) => {
    expect(await send(body)).toMatchObject(refusal(400, 'VALIDATION_ERROR'));
  });

  it('that is absent is told what it lacks', async () => {
    const answer = await ada.post('/workspaces');
    expect(answer).toMatchObject({ status: 400, body: { fields: { name: 'is required' } } });
    expect((await send('', { 'content-type': 'application/json' })).body).toEqual(answer.body);
  });

  it('over the limit is refused, and the next request goes on [REQ-6]', async () => {
    const fits = JSON.stringify({ name: 'w'.repeat(LIMIT - 11) });
    expect(fits).toHaveLength(LIMIT);
    expect(await send(fits)).toMatchObject(refusal(400, 'VALIDATION_ERROR'));
    expect(await send(`${fits} `)).toMatchObject(refusal(413, 'TOO_LARGE'));
    expect((await ada.get('/workspaces')).status).toBe(200);
  });

  it('over the limit is refused without its length being told', async () => {
    const chunk = new Uint8Array(16 * 1024).fill(0x20);
    let sent = 0;
    const stream = new ReadableStream<Uint8Array>({
      pull(controller) {
        if ((sent += 1) > 64) controller.close();
        else controller.enqueue(chunk);
      },
    });
    const response = await fetch(`${server.url}/api/v1/workspaces`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ada.token}`, 'content-type': 'application/json' },
      body: stream,
      duplex: 'half',
    });
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ code: 'TOO_LARGE' });
  });

  it('is refused by its announced length before any of it is sent', async () => {
    const head = `POST /api/v1/workspaces HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${ada.token}\r\nContent-Type: application/json\r\nContent-Length: ${LIMIT + 1}\r\n\r\n`;
    expect(await exchange(server, head)).toMatch(/^HTTP\/1\.1 413 /);
  });

  it('of someone without a token has to be small', async () => {
    const body = JSON.stringify({ email: 'a@example.com', password: 'x'.repeat(LIMIT) });
    const answer = await server.request('POST', '/auth/login', body);
    expect(answer).toMatchObject(refusal(413, 'TOO_LARGE'));
  });

  it('of a stranger is not waited for [REQ-2]', async () => {
    const head = `POST /api/v1/workspaces HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n`;
    expect(await exchange(server, head)).toMatch(/^HTTP\/1\.1 401 /);
  });

  it('of someone who is no member is not waited for [REQ-2]', async () => {
    const { id } = await (await server.register()).createWorkspace();
    const head = `POST /api/v1/workspaces/${id}/tools HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${ada.token}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n`;
    expect(await exchange(server, head)).toMatch(/^HTTP\/1\.1 403 /);
  });

  it('that ends early does no harm', async () => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    socket.write(
      `POST /api/v1/workspaces HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${ada.token}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"name"`,
    );
    await new Promise((resolve) => setTimeout(resolve, 50));
    socket.destroy();
    expect((await ada.get('/workspaces')).status).toBe(200);
  });
});

describe('a route', () => {
  let server: TestServer;
  let ada: TestUser;
  let workspaceId: string;
  let turns: string;

  beforeAll(async () => {
    server = await startTestServer();
    ada = await server.register();
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
  afterAll(() => server.close());

  const refusal = (fields: object) => ({ status: 400, body: { code: 'VALIDATION_ERROR', fields } });

  it.each(['cancel', 'tool-calls/c/cancel'])(
    'that takes no body refuses one that says something: POST %s [REQ-5]',
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
  ])('that takes no body takes %s', async (_, body) => {
    expect((await ada.post(`${turns}/t/cancel`, body)).status).toBe(200);
  });

  it('that takes no query refuses one [REQ-5]', async () => {
    const unknown = refusal({ foo: 'is not a known property' });
    expect(await ada.get('/workspaces?foo=1')).toMatchObject(unknown);
    expect(await ada.get(`/workspaces/${workspaceId}?foo=1`)).toMatchObject(unknown);
    expect(await ada.post('/workspaces?foo=1', { name: 'w' })).toMatchObject(unknown);
  });
});

describe('an error', () => {
  let server: TestServer;
  let ada: TestUser;

  beforeAll(async () => {
    server = await startTestServer();
    ada = await server.register();
  });
  afterAll(() => server.close());

  it.each([
    ['GET', '/nothing'],
    ['DELETE', '/workspaces'],
    ['POST', '/auth/nothing'],
    ['OPTIONS', '/workspaces'],
  ])('of an unknown route or method is a 404: %s %s', async (method, path) => {
    const { status, body } = await ada.request(method, path);
    expect({ status, body }).toEqual({ status: 404, body: { error: 'No such route', code: 'NOT_FOUND' } });
  });

  it.each(['/workspaces/%zz', '/workspaces/%ff', '/workspaces?x=%zz', '/workspaces?x=%ff'])(
    'of bad percent-encoding is a 400: %s',
    async (path) => {
      const { status, body } = await ada.get(path);
      expect({ status, body }).toEqual({
        status: 400,
        body: { error: expect.any(String) as string, code: 'VALIDATION_ERROR' },
      });
    },
  );

  it('of a very long id is an error of the id', async () => {
    expect(await ada.get(`/workspaces/${'a'.repeat(9000)}`)).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_ERROR' },
    });
  });

  it('of what is no HTTP has the same form', async () => {
    const answer = await exchange(server, 'GET / HTTP/9.9\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(JSON.parse(answer.slice(answer.indexOf('{')))).toEqual({
      error: 'The request is not readable as HTTP',
      code: 'VALIDATION_ERROR',
    });
  });

  it('that nobody foresaw tells nothing', () => {
    const { status, body, unexpected } = answerOf(new Error('SELECT secret FROM users failed'));
    expect({ status, body, unexpected }).toEqual({
      status: 500,
      body: { error: 'Internal server error', code: 'INTERNAL_ERROR' },
      unexpected: true,
    });
  });

  it('with a status of its own making is still unforeseen', () => {
    expect(answerOf(Object.assign(new Error('x'), { code: 'ENOENT', statusCode: 404 })).status).toBe(500);
  });

  it('says exactly what the domain says [REQ-1]', () => {
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

  it('of an allowed origin may ask, of another not', async () => {
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
  it('refuses what is new, says that it is not ready, and answers what has begun', async () => {
    const server = await startTestServer();
    const begun = connect(Number(new URL(server.url).port), '127.0.0.1').setEncoding('utf8');
    begun.write(
      'POST /api/v1/auth/refresh HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 21\r\n\r\n{',
    );
    await new Promise((resolve) => setTimeout(resolve, 50));
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
    const startedAt = Date.now();
    const closed = server.close();
    const answered = once(begun, 'data');
    begun.write('"refreshToken":"xy"}');
    expect(String(await answered)).toMatch(/^HTTP\/1\.1 401 /);
    await closed;
    expect(Date.now() - startedAt).toBeLessThan(5000);
    begun.destroy();
  });
});

describe('the depth of a JSON text', () => {
  it.each([
    ['[[]]', 2, false],
    ['[[]]', 1, true],
    ['{"a":[{}]}', 3, false],
    ['{"a":[{}]}', 2, true],
    ['[],[],[]', 1, false],
    [JSON.stringify(['[[[[', '\\"[[[', '\\\\']), 1, false],
    ['"[[[[', 1, false],
  ])('of %s, held against %i, exceeds it: %s', (text, depth, expected) => {
    expect(exceedsDepth(text, depth)).toBe(expected);
  });
});

/** What the server answers to bytes on a connection of their own. */
async function exchange(server: TestServer, bytes: string): Promise<string> {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  socket.setEncoding('utf8').write(bytes);
  const [answer] = (await once(socket, 'data')) as [string];
  socket.destroy();
  return answer;
}
