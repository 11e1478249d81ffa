import { jest } from '@jest/globals';
import { RateLimits } from '../../src/common/rate-limits.js';
import { FakeClient, type FakeClientOptions } from '../support/fake-client.js';
import { startTestServer, type TestServer, type TestUser } from '../support/server.js';
import { ShiftedClock } from '../support/shifted-clock.js';

const NO_TOKEN = { refreshToken: 'nonsense' };

describe('limits of requests', () => {
  let server: TestServer;
  const clock = new ShiftedClock();
  beforeAll(async () => {
    server = await startTestServer({ clock, config: { rateLimit: 50, trustedProxies: ['127.0.0.1'] } });
  });
  afterAll(() => server.close());

  let lastAddress = 0;
  /** An address that nobody came from before. */
  const anAddress = (): string => `198.51.100.${(lastAddress += 1)}`;
  /** Statuses of so many requests at once, as if they came from an address. */
  async function statuses(
    count: number,
    send: (headers: Record<string, string>) => Promise<{ status: number }>,
    address = anAddress(),
  ): Promise<number[]> {
    const answers: number[] = [];
    for (let left = count; left > 0; left -= 100) {
      const some = Array.from({ length: Math.min(left, 100) }, () => send({ 'x-forwarded-for': address }));
      answers.push(...(await Promise.all(some)).map(({ status }) => status));
    }
    return answers;
  }
  const having = (answers: number[], status: number): number =>
    answers.filter((answer) => answer === status).length;
  /** For thousands of requests: nothing but the status of the answer is looked at. */
  const quickly =
    (method: string, path: string, body?: object) => async (headers: Record<string, string>) => {
      const json = body && {
        body: JSON.stringify(body),
        headers: { ...headers, 'content-type': 'application/json' },
      };
      const answer = await fetch(`${server.url}/api/v1${path}`, { method, headers, ...json });
      await answer.arrayBuffer();
      return answer;
    };
  const refresh = quickly('POST', '/auth/refresh', NO_TOKEN);
  const logout = quickly('POST', '/auth/logout', NO_TOKEN);
  const list = (user: TestUser) => (headers: Record<string, string>) =>
    server.request('GET', '/workspaces', undefined, { ...headers, authorization: `Bearer ${user.token}` });

  it('count a refresh apart from what else comes without a token [REQ-21]', async () => {
    const address = anAddress();
    expect(having(await statuses(301, logout, address), 429)).toBe(1);
    expect(having(await statuses(100, refresh, address), 401)).toBe(100);
    expect(having(await statuses(501, refresh, address), 429)).toBe(1);
  });

  it('are each address’s own, and are over when Retry-After says so [REQ-21]', async () => {
    const address = anAddress();
    await statuses(300, logout, address);
    const refused = await server.request('POST', '/auth/logout', NO_TOKEN, { 'x-forwarded-for': address });
    expect(refused).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } });
    expect((await logout({ 'x-forwarded-for': anAddress() })).status).toBe(204);
    const retryMs = Number(refused.headers.get('retry-after')) * 1000;
    clock.pass(retryMs / 2);
    expect((await logout({ 'x-forwarded-for': address })).status).toBe(429);
    clock.pass(retryMs / 2);
    expect((await logout({ 'x-forwarded-for': address })).status).toBe(204);
  });

  it('do not follow the time of day', async () => {
    const address = anAddress();
    await statuses(300, logout, address);
    const now = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 24 * 60 * 60_000);
    try {
      expect((await logout({ 'x-forwarded-for': address })).status).toBe(429);
    } finally {
      now.mockRestore();
    }
  });

  it('count what a stranger reads, also where there is nothing, but never health [REQ-21]', async () => {
    const address = anAddress();
    const nothing = quickly('GET', '/nothing');
    expect(having(await statuses(3_010, nothing, address), 429)).toBe(10);
    const live = await fetch(`${server.url}/health/live`, { headers: { 'x-forwarded-for': address } });
    expect(live.status).toBe(200);
  });

  it('count tokens that are none, and let a good one pass from the same address [REQ-21]', async () => {
    const address = anAddress();
    const user = await server.register();
    const wrong = (headers: Record<string, string>) =>
      server.request('GET', '/workspaces', undefined, { ...headers, authorization: 'Bearer nonsense' });
    const answers = await statuses(310, wrong, address);
    expect([having(answers, 401), having(answers, 429)]).toEqual([300, 10]);
    expect((await list(user)({ 'x-forwarded-for': address })).status).toBe(200);
  });

  it('count no token that has merely expired [REQ-21]', async () => {
    const user = await server.register();
    clock.pass(24 * 60 * 60_000);
    const answers = await statuses(310, list(user));
    expect(having(answers, 401)).toBe(310);
  });

  it('count what a user may not have [REQ-21]', async () => {
    const [owner, stranger] = [await server.register(), await server.register()];
    const { id } = await owner.createWorkspace();
    const answers = await statuses(310, () => stranger.get(`/workspaces/${id}`));
    expect([having(answers, 403), having(answers, 429)]).toEqual([300, 10]);
    expect((await stranger.get('/workspaces')).status).toBe(200);
  });

  it('hold at the relay, for a user who connects and for tokens that are none [REQ-21]', async () => {
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
    expect(having(await statuses(299, guess, address), 401)).toBe(299);
    expect(await connect(wrong)).toBe('RATE_LIMITED');
    expect(await connect({})).toBe('connected');
    const limits = server.app.get(RateLimits, { strict: false });
    for (let connected = 1; connected < 600; connected += 1) limits.handshake(user.id);
    expect(await connect({})).toBe('RATE_LIMITED');
  });

  it('bound a user over all workspaces, beside the limit of each [REQ-21]', async () => {
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
