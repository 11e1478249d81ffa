import { setTimeout as sleep } from 'node:timers/promises';
import { RawConnection } from '../support/raw-connection.js';
import { startTestServer, type TestServer } from '../support/server.js';
import { waitFor } from '../support/wait-for.js';
import { createCall, RelayFixture } from '../support/relay-fixture.js';

const LIVE = '/health/live';

describe('open connections', () => {
  let server: TestServer;
  let open: RawConnection[] = [];
  afterEach(async () => {
    open.forEach((connection) => connection.end());
    open = [];
    await server.close();
  });
  const connect = async (count: number, address?: string): Promise<RawConnection[]> => {
    const opened = await RawConnection.openMany(server, count, address);
    open.push(...opened);
    return opened;
  };
  /** Requests that are answered by nobody for a while: the turn of each waits for its client. */
  async function busy(count: number, address?: string): Promise<RawConnection[]> {
    const fixture = await RelayFixture.on(server, await server.register());
    const { turnId } = (await fixture.post([createCall('a')])).body.result;
    const headers = { Authorization: `Bearer ${fixture.user.token}` };
    const connections = await connect(count, address);
    for (const one of connections) one.get(`/api/v1${fixture.base}/${turnId}?waitMs=20000`, headers);
    await sleep(100);
    return connections;
  }

  it('are bounded for each address: the longest idle is closed for a new one [REQ-20]', async () => {
    server = await startTestServer({ config: { maxAddressConnections: 5 } });
    const idle = await connect(5, '127.0.0.9');
    const [next] = await connect(1, '127.0.0.9');
    await idle[0]!.untilClosed();
    expect(await next!.get(LIVE).status()).toBe(200);
    expect(idle.slice(1).some(({ closed }) => closed)).toBe(false);
  });

  it('are closed as idle when they send their headers a byte at a time', async () => {
    server = await startTestServer({ config: { maxAddressConnections: 5 } });
    for (const one of await connect(5, '127.0.0.9')) one.send('GET / HTTP/1.1\r\nX-Slow: ');
    const [next] = await connect(1, '127.0.0.9');
    expect(await next!.get(LIVE).status()).toBe(200);
  });

  it('reject another connection of an address whose connections are all busy, with the reason [REQ-20]', async () => {
    server = await startTestServer({ config: { maxAddressConnections: 5 } });
    await busy(5, '127.0.0.9');
    const [refused] = await connect(1, '127.0.0.9');
    expect(await refused!.status()).toBe(429);
    expect(refused!.received).toContain('"code":"RATE_LIMITED"');
    expect(refused!.received).toMatch(/Retry-After: \d+/);
    await refused!.untilClosed();
    const [other] = await connect(1, '127.0.0.10');
    expect(await other!.get(LIVE).status()).toBe(200);
  });

  it('are bounded in total', async () => {
    server = await startTestServer({ config: { maxConnections: 10 } });
    const idle = [...(await connect(8, '127.0.0.9')), ...(await connect(8, '127.0.0.10'))];
    const [next] = await connect(1);
    expect(await next!.get(LIVE).status()).toBe(200);
    expect(idle.filter(({ closed }) => closed).length).toBeGreaterThanOrEqual(6);
  });

  it('reject a new connection as unavailable when all are busy', async () => {
    server = await startTestServer({ config: { maxConnections: 10 } });
    await busy(10, '127.0.0.9');
    const [refused] = await connect(1, '127.0.0.10');
    expect(await refused!.status()).toBe(503);
  });

  it('are counted by the address of the client behind a trusted proxy [REQ-20]', async () => {
    server = await startTestServer({ config: { maxAddressConnections: 2, trustedProxies: ['127.0.0.9'] } });
    const fixture = await RelayFixture.on(server, await server.register());
    const { turnId } = (await fixture.post([createCall('a')])).body.result;
    const waits = `/api/v1${fixture.base}/${turnId}?waitMs=20000`;
    const headers = (address: string) => ({
      Authorization: `Bearer ${fixture.user.token}`,
      'X-Forwarded-For': address,
    });
    const through = await connect(5, '127.0.0.9');
    for (const one of through.slice(0, 2)) one.get(waits, headers('198.51.100.1'));
    await sleep(100);
    expect(await through[2]!.get(waits, headers('198.51.100.1')).status()).toBe(429);
    expect(await through[3]!.get(LIVE, headers('198.51.100.2')).status()).toBe(200);
  });

  it('are closed when they pipeline more requests than allowed, and none of those runs [REQ-20]', async () => {
    server = await startTestServer();
    const [connection] = await connect(1);
    connection!.send('GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(10_000));
    await connection!.untilClosed();
    expect([...connection!.received.matchAll(/HTTP/g)].length).toBeLessThanOrEqual(8);
    const [next] = await connect(1);
    next!.send('GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(8));
    expect(await next!.status(8)).toBe(200);
  });

  it('are answered with an error when their headers are too large', async () => {
    server = await startTestServer();
    const [connection] = await connect(1);
    connection!.get(LIVE, { 'X-Large': 'x'.repeat(17_000) });
    expect(await connection!.status()).toBe(413);
    expect(connection!.received).toContain('"code":"TOO_LARGE"');
  });

  it('are closed when they do not read answers, which are buffered up to a limit [REQ-22]', async () => {
    const size = 8 * 1024 * 1024;
    server = await startTestServer({ config: { answerMs: 300, maxUnreadBytes: 4 * size } });
    const user = await server.register();
    const { id } = await user.createWorkspace();
    const path = `/workspaces/${id}/contents/large.bin`;
    const { status } = await server.request('PUT', path, Buffer.alloc(size), {
      authorization: `Bearer ${user.token}`,
      'content-type': 'application/octet-stream',
    });
    expect(status).toBe(201);
    const connections = await connect(8);
    for (const { socket } of connections) socket.pause();
    for (const one of connections) one.get(`/api/v1${path}`, { Authorization: `Bearer ${user.token}` });
    await sleep(500);
    // What holds little goes on.
    expect((await user.post('/workspaces', { name: 'small' })).status).toBe(201);
    for (const { socket } of connections) socket.resume();
    const statuses = await Promise.all(connections.map((one) => one.status()));
    expect(statuses.filter((one) => one === 200).length).toBeLessThanOrEqual(3);
    expect(statuses.filter((one) => one === 429).length).toBeGreaterThanOrEqual(5);
    expect((await (await server.register()).get('/workspaces')).status).toBe(200);
    const own = async (): Promise<boolean> => (await user.get(`/workspaces/${id}`)).status === 200;
    await waitFor(own, 'the user to be answered again');
  });
});
