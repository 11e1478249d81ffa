import { jest } from '@jest/globals';
import type { IncomingMessage } from 'node:http';
import { RateLimits } from '../../src/limits/rate-limits.js';
import { FakeClient, type FakeClientOptions } from '../support/fake-client.js';
import { suiteFixture } from '../support/fixtures.js';
import { startTestServer, type TestUser } from '../support/server.js';
import { ShiftedClock } from '../support/shifted-clock.js';

const NO_TOKEN = { refreshToken: 'nonsense' };

describe('limits of requests', () => {
  const server = suiteFixture(() =>
    startTestServer({ clock, config: { rateLimit: 50, trustedProxies: ['127.0.0.1'] } }),
  );
  let limits: RateLimits;
  const clock = new ShiftedClock();
  beforeAll(async () => {
    limits = server.app.get(RateLimits, { strict: false });
  });

  let lastAddress = 0;
  /** An address that nobody came from before. */
  const anAddress = (): string => `198.51.100.${(lastAddress += 1)}`;
  /** As if so many requests of an address had come before. */
  const spent = (count: number, address: string, countOne: (request: IncomingMessage) => void): void => {
    const socket = { remoteAddress: '127.0.0.1' };
    const request = { headers: { 'x-forwarded-for': address }, socket } as unknown as IncomingMessage;
    for (let one = 0; one < count; one += 1) countOne(request);
  };
  const logouts = (request: IncomingMessage): void => limits.anonymous(request, 'anonymous');
  const refreshes = (request: IncomingMessage): void => limits.anonymous(request, 'refresh');
  /** Statuses of so many requests at once, as if they came from an address. */
  async function statuses(
    count: number,
    send: (headers: Record<string, string>) => Promise<{ status: number }>,
    address = anAddress(),
  ): Promise<number[]> {
    const all = Array.from({ length: count }, () => send({ 'x-forwarded-for': address }));
    return (await Promise.all(all)).map(({ status }) => status);
  }
  const having = (answers: number[], status: number): number =>
    answers.filter((answer) => answer === status).length;
  const sent = (method: string, path: string, body?: object) => (headers: Record<string, string>) =>
    server.request(method, path, body, headers);
  const refresh = sent('POST', '/auth/refresh', NO_TOKEN);
  const logout = sent('POST', '/auth/logout', NO_TOKEN);
  const list = (user: TestUser) => (headers: Record<string, string>) =>
    server.request('GET', '/workspaces', undefined, { ...headers, authorization: `Bearer ${user.token}` });

  it('count refreshes apart from other requests without a token [REQ-21]', async () => {
    const address = anAddress();
    spent(290, address, logouts);
    expect(having(await statuses(11, logout, address), 429)).toBe(1);
    expect(having(await statuses(10, refresh, address), 401)).toBe(10);
    spent(580, address, refreshes);
    expect(having(await statuses(11, refresh, address), 429)).toBe(1);
  });

  it('are separate for each address, and end at Retry-After [REQ-21]', async () => {
    const address = anAddress();
    spent(300, address, logouts);
    const refused = await server.request('POST', '/auth/logout', NO_TOKEN, { 'x-forwarded-for': address });
    expect(refused).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } });
    expect((await logout({ 'x-forwarded-for': anAddress() })).status).toBe(204);
    const retryMs = Number(refused.headers.get('retry-after')) * 1000;
    clock.pass(retryMs / 2);
    expect((await logout({ 'x-forwarded-for': address })).status).toBe(429);
    clock.pass(retryMs / 2);
    expect((await logout({ 'x-forwarded-for': address })).status).toBe(204);
  });

  it.each([
    ['with its port', (address: string) => `${address}:49232`],
    ['in brackets, with its port', (address: string) => `[${address}]:49232`],
    ['as IPv6', (address: string) => `[::ffff:${address}]:49232`],
    ['behind what the client has claimed', (address: string) => `203.0.113.1:1, _x, ${address}:49232`],
    ['with empty entries', (address: string) => `${address}:49232, ,`],
  ])(
    'count the address of the client, not of the proxy, where the proxy names it %s [REQ-21]',
    async (_, spell) => {
      const address = anAddress();
      spent(300, address, logouts);
      expect((await logout({ 'x-forwarded-for': spell(address) })).status).toBe(429);
      expect((await logout({ 'x-forwarded-for': spell(anAddress()) })).status).toBe(204);
      expect((await logout({})).status).toBe(204);
    },
  );

  it('do not depend on the wall clock', async () => {
    const address = anAddress();
    spent(300, address, logouts);
    const now = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 24 * 60 * 60_000);
    try {
      expect((await logout({ 'x-forwarded-for': address })).status).toBe(429);
    } finally {
      now.mockRestore();
    }
  });

  it('count reads without a token, also of unknown paths, but not health [REQ-21]', async () => {
    const address = anAddress();
    spent(2_990, address, (request) => limits.tokenless(request));
    expect(having(await statuses(20, sent('GET', '/nothing'), address), 429)).toBe(10);
    const live = await fetch(`${server.url}/health/live`, { headers: { 'x-forwarded-for': address } });
    expect(live.status).toBe(200);
  });

  it('count invalid tokens and accept a valid one from the same address [REQ-21]', async () => {
    const address = anAddress();
    const user = await server.register();
    const wrong = (headers: Record<string, string>) =>
      server.request('GET', '/workspaces', undefined, { ...headers, authorization: 'Bearer nonsense' });
    spent(290, address, (request) => limits.failedToken(request));
    const answers = await statuses(20, wrong, address);
    expect([having(answers, 401), having(answers, 429)]).toEqual([10, 10]);
    expect((await list(user)({ 'x-forwarded-for': address })).status).toBe(200);
  });

  it('do not count an expired token [REQ-21]', async () => {
    const user = await server.register();
    clock.pass(24 * 60 * 60_000);
    const address = anAddress();
    spent(290, address, (request) => limits.failedToken(request));
    expect(having(await statuses(20, list(user), address), 401)).toBe(20);
  });

  it('count requests that are forbidden to the user [REQ-21]', async () => {
    const [owner, stranger] = [await server.register(), await server.register()];
    const { id } = await owner.createWorkspace();
    for (let refused = 0; refused < 290; refused += 1) limits.forbidden(stranger.id);
    const answers = await statuses(20, () => stranger.get(`/workspaces/${id}`));
    expect([having(answers, 403), having(answers, 429)]).toEqual([10, 10]);
    expect((await stranger.get('/workspaces')).status).toBe(200);
  });

  it('apply at the relay to a user who connects and to invalid tokens [REQ-21]', async () => {
    const user = await server.register();
    const { id: workspaceId } = await user.createWorkspace();
    const address = anAddress();
    const connect = async (change: Partial<FakeClientOptions>): Promise<string> => {
      const headers = { 'x-forwarded-for': address };
      const options = { url: server.url, token: user.token, workspaceId, headers, ...change };
      return FakeClient.connect(options).then(
        (client) => (client.close(), 'connected'),
        (error: Error & { data: { code: string } }) => error.data.code,
      );
    };
    const wrong = { token: 'nonsense' };
    expect(await connect(wrong)).toBe('INVALID_TOKEN');
    const guess = (headers: Record<string, string>) =>
      server.request('GET', '/workspaces', undefined, { ...headers, authorization: 'Bearer nonsense' });
    spent(290, address, (request) => limits.failedToken(request));
    expect(having(await statuses(9, guess, address), 401)).toBe(9);
    expect(await connect(wrong)).toBe('RATE_LIMITED');
    expect(await connect({})).toBe('connected');
    for (let connected = 1; connected < 600; connected += 1) limits.handshake(user.id);
    expect(await connect({})).toBe('RATE_LIMITED');
  });

  it('limit a user over all workspaces, beside the limit of each [REQ-21]', async () => {
    const user = await server.register();
    const ids = [];
    for (let made = 0; made < 3; made += 1) ids.push((await user.createWorkspace()).id);
    const open = (id: string) => () => user.post(`/workspaces/${id}/sessions`, {});
    expect(having(await statuses(51, open(ids[0]!)), 429)).toBe(1);
    // Three workspaces were made and 50 sessions: 47 of 100 writes are left.
    expect(having(await statuses(50, open(ids[1]!)), 201)).toBe(47);
    expect((await open(ids[2]!)()).status).toBe(429);
  });
});
