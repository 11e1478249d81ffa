import { connect } from 'node:net';
import { Receiving } from '../../src/bodies/receiving.js';
import { suiteFixture } from '../support/fixtures.js';
import { startTestServer } from '../support/server.js';
import { waitFor } from '../support/wait-for.js';
import { exchange } from '../support/exchange.js';

const LIMIT = 64 * 1024;

describe('a request body', () => {
  const server = suiteFixture(() => startTestServer({ config: { maxBodyBytes: LIMIT } }));
  const ada = suiteFixture(() => server.register());

  const send = (body: string | Uint8Array, headers: Record<string, string> = {}) =>
    server.request('POST', '/workspaces', body, { authorization: `Bearer ${ada.token}`, ...headers });
  const received = (): number => server.app.get(Receiving).held;
  const refusal = (status: number, code: string) => ({
    status,
    body: { error: expect.any(String) as string, code },
  });

  it.each([
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
  ])('is accepted as %s', async (contentType) => {
    expect((await send('{"name":"w"}', { 'content-type': contentType })).status).toBe(201);
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/json; charset=latin1',
    'nonsense',
    'a/b/c',
    '',
  ])('is rejected as "%s"', async (contentType) => {
    expect(await send('{"name":"w"}', { 'content-type': contentType })).toMatchObject(
      refusal(415, 'UNSUPPORTED_MEDIA_TYPE'),
    );
  });

  it.each([
    ['that was a half already', '\\ud835'],
    ['that was cut', `${'x'.repeat(63)}\\ud835\\udce3`],
  ])('with an unknown name is rejected without half a character %s', async (_, name) => {
    const { status, body } = await send(`{"name":"w","${name}":1}`);
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toContain('is not a known property');
    expect(JSON.stringify(body)).not.toContain('\\ud835');
  });

  it('is rejected when compressed', async () => {
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

  it('that is absent is rejected with the missing fields', async () => {
    const answer = await ada.post('/workspaces');
    expect(answer).toMatchObject({ status: 400, body: { fields: { name: 'is required' } } });
    expect((await send('', { 'content-type': 'application/json' })).body).toEqual(answer.body);
  });

  it('over the limit is rejected, and the next request succeeds [REQ-6]', async () => {
    const fits = JSON.stringify({ name: 'w'.repeat(LIMIT - 11) });
    expect(fits).toHaveLength(LIMIT);
    expect(await send(fits)).toMatchObject(refusal(400, 'VALIDATION_ERROR'));
    expect(await send(`${fits} `)).toMatchObject(refusal(413, 'TOO_LARGE'));
    expect((await ada.get('/workspaces')).status).toBe(200);
  });

  it('over the limit is rejected also when its length is not announced', async () => {
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

  it('is rejected by its announced length before it is sent', async () => {
    const head = `POST /api/v1/workspaces HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${ada.token}\r\nContent-Type: application/json\r\nContent-Length: ${LIMIT + 1}\r\n\r\n`;
    expect(await exchange(server, head)).toMatch(/^HTTP\/1\.1 413 /);
  });

  it('without a token must be small', async () => {
    const body = JSON.stringify({ email: 'a@example.com', password: 'x'.repeat(LIMIT) });
    const answer = await server.request('POST', '/auth/login', body);
    expect(answer).toMatchObject(refusal(413, 'TOO_LARGE'));
  });

  it('without a token is answered before it arrives [REQ-2]', async () => {
    const head = `POST /api/v1/workspaces HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n`;
    expect(await exchange(server, head)).toMatch(/^HTTP\/1\.1 401 /);
  });

  it('of a user who is not a member is answered before it arrives [REQ-2]', async () => {
    const { id } = await (await server.register()).createWorkspace();
    const head = `POST /api/v1/workspaces/${id}/tools HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${ada.token}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n`;
    expect(await exchange(server, head)).toMatch(/^HTTP\/1\.1 403 /);
  });

  it('that ends early does not disturb the server', async () => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    socket.write(
      `POST /api/v1/workspaces HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${ada.token}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"name"`,
    );
    await waitFor(() => received() === 1000, 'its beginning');
    socket.destroy();
    // Long before it would be given up for coming too slowly.
    await waitFor(() => received() === 0, 'it to be let go');
    expect((await ada.get('/workspaces')).status).toBe(200);
  });
});
