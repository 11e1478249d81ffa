import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { jest } from '@jest/globals';
import type { OpenTurnPage } from '@patchbay/protocol';
import { Receiving } from '../../src/bodies/receiving.js';
import { ToolCallsService } from '../../src/agent-api/tool-calls.service.js';
import { UserJobs } from '../../src/jobs/user-jobs.js';
import { suiteFixture } from '../support/fixtures.js';
import { RelayFixture } from '../support/relay-fixture.js';
import { startTestServer, type TestUser } from '../support/server.js';
import { waitFor } from '../support/wait-for.js';

const KIB = 1024;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Bodies that are scanned on a worker, and what bounds all that are on their way. */
describe('a large body', () => {
  const server = suiteFixture(() =>
    startTestServer({
      config: {
        ...{ maxBodyBytes: 2048 * KIB, maxFileBytes: 512 * KIB, maxReceivingBytes: 16 * 1024 * KIB },
        bodyIdleMs: 2_000,
      },
    }),
  );
  let ada: TestUser;
  let grace: TestUser;
  const sockets: Socket[] = [];

  beforeAll(async () => {
    [ada, grace] = await Promise.all([server.register(), server.register()]);
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await waitFor(() => received() === 0, 'all to be given back');
  });

  const post = (user: TestUser, body: string | Uint8Array) => user.post('/workspaces', body);
  /** The first answer with this status: what others send or leave takes effect when the server sees it. */
  const answered = async (user: TestUser, body: string, status: number) => {
    let answer = await post(user, body);
    await waitFor(async () => {
      if (answer.status !== status) answer = await post(user, body);
      return answer.status === status;
    }, `a ${status}`);
    return answer;
  };
  const received = (): number => server.app.get(Receiving).held;
  const padded = (text: string): string => text + ' '.repeat(200 * KIB);
  const refused = (error: string) => ({
    status: 400,
    body: { code: 'VALIDATION_ERROR', error: expect.stringContaining(error) as string },
  });

  /** Sends the head of a request and some of its body, on a connection of its own that stays open. */
  const begin = async (user: TestUser, announced: number, sent: string, path = '/workspaces') => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1').setEncoding('utf8');
    sockets.push(socket);
    let answer = '';
    socket.on('data', (text) => (answer += String(text))).on('error', () => {});
    await once(socket, 'connect');
    const method = path === '/workspaces' ? 'POST' : 'PUT';
    socket.write(
      `${method} /api/v1${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${user.token}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${announced}\r\n\r\n${sent}`,
    );
    return { socket, answer: () => answer };
  };

  it('is read like a small one', async () => {
    expect((await post(ada, padded('{"name":"w"}'))).status).toBe(201);
    expect((await post(ada, padded('\ufeff{"name":"w"}'))).status).toBe(201);
  });

  it.each([
    ['is no JSON', padded('{"name":'), 'is not valid JSON'],
    ['has a number that is none', padded('{"name":01e400}'), 'is not valid JSON'],
    ['is not UTF-8', Buffer.concat([Buffer.from([0x22, 0xff]), Buffer.alloc(200 * KIB, 'a')]), 'UTF-8'],
    ['is nested too deep', '['.repeat(200 * KIB), 'nested deeper than 250'],
    ['holds too many values', `[${'0,'.repeat(600_000)}0]`, 'more than 250000 values'],
    [
      'holds too many names',
      `[${Array.from({ length: 60_000 }, (_, at) => `{"n${at}":0}`).join(',')}]`,
      'more than 50000 different names',
    ],
    ['has too many numbers that are not kept', `[${'1e400,'.repeat(20_000)}0]`, 'cannot keep exactly'],
  ])('that %s is rejected with that reason [REQ-6] [REQ-9]', async (_, body, fault) => {
    expect(await post(ada, body)).toMatchObject(refused(fault));
  });

  it('keeps the fault of numbers that lose precision', async () => {
    const { id } = await ada.createWorkspace();
    const args = `{"path":"/a.json","content":{"id":9007199254740993,"pad":"${'x'.repeat(200 * KIB)}"}}`;
    const answer = await ada.post(`/workspaces/${id}/tools`, `{"tool":"write","args":${args}}`);
    expect(answer).toMatchObject({
      status: 400,
      body: { fields: { content: expect.stringContaining('9007199254740993') as string } },
    });
  });

  it('is rejected while other large bodies of its sender are being received, and those of other users are accepted [REQ-10]', async () => {
    const size = 900 * KIB;
    const part = '{"name":"w","x":"';
    const held = [await begin(ada, size, part), await begin(ada, size, part)];
    const large = padded('{"name":"w"}').padEnd(size);
    await waitFor(() => received() === 2 * size, 'both to have room');
    const answer = await answered(ada, large, 429);
    expect(answer.body).toMatchObject({ code: 'RATE_LIMITED' });
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await post(ada, '{"name":"w"}')).status).toBe(201);
    expect((await post(grace, padded('{"name":"w"}'))).status).toBe(201);
    for (const { socket } of held) socket.destroy();
    await answered(ada, large, 201);
  });

  it('is counted as it arrives when its length is not announced [REQ-10]', async () => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    sockets.push(socket);
    const size = 300 * KIB;
    socket.write(
      `POST /api/v1/workspaces HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${ada.token}\r\n` +
        `Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n` +
        `${size.toString(16)}\r\n${' '.repeat(size)}\r\n`,
    );
    await waitFor(() => received() === size, 'all that came to be counted');
  });

  it('is rejected without a token', async () => {
    const body = padded(JSON.stringify({ email: 'a@example.com', password: 'x' }));
    expect((await server.request('POST', '/auth/login', body)).status).toBe(413);
  });

  it('is handled after the large body of the same user before it, without delay for other users [REQ-10]', async () => {
    const place = await server.app.get(UserJobs).enter(ada.id, 'bodies');
    const order: string[] = [];
    const large = '{"name":"w"}'.padEnd(1100 * KIB);
    const waiting = post(ada, large).then(({ status }) => order.push(`large ${status}`));
    await waitFor(() => received() === large.length, 'the large one to be there');
    order.push(`small ${(await post(ada, '{"name":"w"}')).status}`);
    order.push(`other ${(await post(grace, large)).status}`);
    place.release();
    await waiting;
    expect(order).toEqual(['small 201', 'other 201', 'large 201']);
    expect(received()).toBe(0);
  });

  it('is released while its turn waits for a client [REQ-10]', async () => {
    const fixture = await RelayFixture.on(server, ada);
    const content = 'x'.repeat(1200 * KIB);
    const call = (toolCallId: string) => ({
      ...{ toolCallId, name: 'workspace_create_file', arguments: { path: 'a.txt', content } },
    });
    const waiting = fixture.post([call('first')], { waitMs: 60_000, turnId: 'first' });
    await waitFor(async () => (await ada.get(`${fixture.base}/first`)).status === 202, 'the turn');
    await waitFor(() => received() === 0, 'the turn to be all there is of it');
    expect((await fixture.post([call('second')])).status).toBe(202);
    await ada.post(`${fixture.base}/first/cancel`, {});
    expect((await waiting).status).toBe(200);
  });

  it('is released while its direct call waits for a client [REQ-10]', async () => {
    const fixture = await RelayFixture.on(server, ada);
    const calls = server.app.get(ToolCallsService, { strict: false });
    const post = calls.call.bind(calls);
    let held: WeakRef<object> | undefined;
    jest.spyOn(calls, 'call').mockImplementation((workspaceId, userId, request, key, response) => {
      held = new WeakRef(request.args as object);
      return post(workspaceId, userId, request, key, response);
    });
    const args = { path: 'a.txt', content: 'x'.repeat(1200 * KIB) };
    const direct = { tool: 'workspace_create_file', args, sessionId: fixture.session.sessionId };
    const waiting = ada.post(`/workspaces/${fixture.workspaceId}/tools`, direct);
    const open = async () => (await ada.get<OpenTurnPage>(fixture.base.replace(/sessions.*/, 'turns'))).body;
    await waitFor(async () => (await open()).turns.length === 1, 'the turn');
    await waitFor(() => (collectGarbage(), held?.deref() === undefined), 'its arguments to be let go');
    const [turn] = (await open()).turns;
    await ada.post(`${fixture.base}/${turn!.turnId}/cancel`, {});
    expect((await waiting).body).toMatchObject({ success: false });
  });

  it.each(['/workspaces', 'contents'])('that stops coming to %s is given up [REQ-10]', async (where) => {
    const { id } = await ada.createWorkspace();
    const path = where === 'contents' ? `/workspaces/${id}/contents/a.txt` : where;
    const { socket, answer } = await begin(ada, 1000, '{"name"', path);
    await once(socket, 'close');
    expect(answer()).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer()).toMatch(/connection: close/i);
    expect(answer()).toContain('came too slowly');
  });

  it('is aborted when it arrives byte by byte [REQ-10]', async () => {
    const { socket, answer } = await begin(ada, 1000, '{');
    const drip = setInterval(() => socket.write(' '), 200);
    await once(socket, 'close').finally(() => clearInterval(drip));
    expect(answer()).toContain('came too slowly');
  });
});
