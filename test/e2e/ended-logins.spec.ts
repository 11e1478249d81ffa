import type { Credentials, ErrorBody } from '@patchbay/protocol';
import { jest } from '@jest/globals';
import { DomainError } from '../../src/common/domain-error.js';
import { storesOf } from '../contract/backends.js';
import { FakeClient } from '../support/fake-client.js';
import { suiteFixture } from '../support/fixtures.js';
import { hold } from '../support/hold.js';
import { type Line, TestNodes } from '../support/nodes.js';
import { startTestServer, type TestServer, type TestUser } from '../support/server.js';
import { ShiftedClock } from '../support/shifted-clock.js';
import { waitFor } from '../support/wait-for.js';

/** What docs/protocol.md promises [REQ-8]. */
const LATEST_MS = 5_000;

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const cookie = (token: string) => ({ cookie: `access_token=${token}` });
const statusAt = async (server: TestServer, headers: Record<string, string>, path = '/workspaces') =>
  (await server.request('GET', path, undefined, headers)).status;
const refresh = (server: TestServer, refreshToken: string) =>
  server.request<Credentials>('POST', '/auth/refresh', { refreshToken });

/** What ends a login. */
const ENDS: [string, (server: TestServer, credentials: Credentials) => Promise<void>][] = [
  [
    'a logout',
    async (server, { refreshToken }) => void (await server.request('POST', '/auth/logout', { refreshToken })),
  ],
  [
    'the reuse of a rotated refresh token',
    async (server, { refreshToken }) => {
      const { body } = await refresh(server, refreshToken);
      expect(await statusAt(server, bearer(body.accessToken))).toBe(200);
      await refresh(server, body.refreshToken);
      expect((await refresh(server, refreshToken)).status).toBe(401);
    },
  ],
];

describe.each(ENDS)('an access token after %s', (_, end) => {
  it('is rejected, as a bearer and as a cookie, also after each restart [REQ-8]', async () => {
    const jwtSecret = 'a secret for tests that is long enough';
    const first = await startTestServer({ config: { jwtSecret } });
    const [ada, ben] = [await first.register(), await first.register()];
    const rotated = (await refresh(first, ben.credentials.refreshToken)).body;
    expect(await statusAt(first, bearer(ada.token))).toBe(200);
    await end(first, ada.credentials);
    expect(await statusAt(first, bearer(ada.token))).toBe(401);
    await first.app.close();
    for (let restart = 0; restart < 2; restart += 1) {
      const next = await startTestServer({ config: { dataDir: first.dataDir, jwtSecret } });
      for (const headers of [bearer(ada.token), cookie(ada.token)])
        expect(await statusAt(next, headers)).toBe(401);
      // A rotation is no end: older access tokens of the login work until they expire.
      for (const token of [ben.token, rotated.accessToken])
        expect(await statusAt(next, bearer(token))).toBe(200);
      await next.app.close();
    }
    await first.close();
  });

  it.each<Line>(['sound', 'cut'])(
    'is rejected by another node and its sockets there are closed within 5 s, over a bus that is %s [REQ-8] [RELAY-11]',
    async (line) => {
      const nodes = await TestNodes.open();
      const [a, b] = [await nodes.start('a'), await nodes.start('b')];
      const ada = await a.register();
      const { id: workspaceId } = await ada.createWorkspace();
      const connect = (url: string, clientId: string) =>
        FakeClient.ready({ url, token: ada.token, workspaceId, clientId });
      const [here, there] = [await connect(a.url, 'here'), await connect(b.url, 'there')];
      expect(await statusAt(b, bearer(ada.token))).toBe(200);
      nodes.network.line = line;
      await end(a, ada.credentials);
      const endedAt = Date.now();
      expect(await statusAt(a, bearer(ada.token))).toBe(401);
      await here.closed(1_000);
      await there.closed(LATEST_MS);
      await waitFor(async () => (await statusAt(b, bearer(ada.token))) === 401, 'the refusal', LATEST_MS);
      expect(Date.now() - endedAt).toBeLessThan(LATEST_MS);
      await expect(connect(b.url, 'late')).rejects.toMatchObject({ data: { code: 'INVALID_TOKEN' } });
      await nodes.close();
    },
  );
});

describe('the login of an access token', () => {
  const server = suiteFixture(() => startTestServer({ clock }));
  const clock = new ShiftedClock();
  afterEach(() => void jest.restoreAllMocks());

  const logout = ({ credentials: { refreshToken } }: TestUser) =>
    server.request('POST', '/auth/logout', { refreshToken });

  it('may end while a request runs, which is then rejected [REQ-8]', async () => {
    const ada = await server.register();
    const slow = hold(storesOf(server.app).workspaces, 'summariesOf');
    const listed = ada.get<ErrorBody>('/workspaces');
    await slow.reached;
    await logout(ada);
    slow.release();
    expect(await listed).toMatchObject({ status: 401, body: { code: 'INVALID_TOKEN' } });
  });

  it('is read once for concurrent requests, and again after at most 5 s', async () => {
    const ada = await server.register();
    const read = jest.spyOn(storesOf(server.app).logins, 'byId');
    const answers = await Promise.all(Array.from({ length: 20 }, () => ada.get('/workspaces')));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(read).toHaveBeenCalledTimes(1);
    clock.pass(LATEST_MS);
    await ada.get('/workspaces');
    expect(read).toHaveBeenCalledTimes(2);
  });

  it('is treated as unknown while the store cannot be read, once the cached value is 5 s old [REQ-8]', async () => {
    const ada = await server.register();
    expect((await ada.get('/workspaces')).status).toBe(200);
    const failing = jest
      .spyOn(storesOf(server.app).logins, 'byId')
      .mockRejectedValue(new DomainError('UNAVAILABLE', 'The database does not answer.'));
    expect((await ada.get('/workspaces')).status).toBe(200);
    clock.pass(LATEST_MS);
    expect(await ada.get('/workspaces')).toMatchObject({ status: 503, body: { code: 'UNAVAILABLE' } });
    failing.mockRestore();
    expect((await ada.get('/workspaces')).status).toBe(200);
  });
});
