import { Logger } from '@nestjs/common';
import type { Credentials } from '@patchbay/protocol';
import { StorageHealth } from '../../src/storage/ports/storage-health.js';
import { suiteFixture } from '../support/fixtures.js';
import { startTestServer } from '../support/server.js';
import { waitFor } from '../support/wait-for.js';

describe('the log', () => {
  const lines: string[] = [];
  const server = suiteFixture(() =>
    startTestServer({
      config: { logLevel: 'trace', rateLimit: 1000, trustedProxies: ['127.0.0.1'] },
      logDestination: { write: (line: string) => void lines.push(line) },
    }),
  );

  it('has one line for a failed login, with the address and the account, without the email and the password [REQ-60]', async () => {
    const user = await server.register('victim@example.com');
    const from = { 'x-forwarded-for': '203.0.113.7' };
    for (const email of ['victim@example.com', 'nobody@example.com'])
      await server.request('POST', '/auth/login', { email, password: 'guessed-password' }, from);
    for (let times = 0; times < 10; times += 1)
      await server.request('POST', '/auth/login', { email: 'victim@example.com', password: 'guess' }, from);
    const of = (address: string): Record<string, unknown>[] =>
      lines
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .filter((line) => line.address === address);
    await waitFor(() => of('203.0.113.7').length >= 12, 'a line of each login');
    const entries = of('203.0.113.7');
    const about = {
      level: 40,
      method: 'POST',
      route: '/api/v1/auth/login',
      ms: expect.any(Number) as number,
    };
    const failed = { ...about, msg: 'A login failed', status: 401, code: 'INVALID_TOKEN' };
    expect(entries.slice(0, 2)).toMatchObject([
      { ...failed, userId: user.id },
      { ...failed, userId: null },
    ]);
    const refused = { ...about, msg: 'A login was refused: too many have failed' };
    expect(entries.at(-1)).toMatchObject({ ...refused, status: 429, code: 'RATE_LIMITED' });
    expect(entries).toHaveLength(12);
    for (const secret of ['victim@', 'nobody@', 'guess']) expect(lines.join('')).not.toContain(secret);
  });

  /** An answer may arrive before its line is written. */
  const linesOf = async (requestId: string): Promise<Record<string, unknown>[]> => {
    const found = (): Record<string, unknown>[] =>
      lines
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .filter((line) => line.requestId === requestId);
    await waitFor(() => found().length > 0, `a line of ${requestId}`);
    return found();
  };
  const ask = (requestId: string, path: string, token?: string, headers: Record<string, string> = {}) =>
    server.request('GET', path, undefined, {
      ...{ 'x-request-id': requestId, 'x-forwarded-for': '203.0.113.9' },
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...headers,
    });

  it('has one line for a rejected request with user, address, route, code and duration [REQ-60]', async () => {
    const [owner, other] = [await server.register(), await server.register()];
    const { id: workspaceId } = await owner.createWorkspace();
    const about = {
      level: 30,
      context: 'Http',
      method: 'GET',
      address: '203.0.113.9',
      ms: expect.any(Number) as number,
    };
    const workspace = `/workspaces/${workspaceId}`;
    const ofWorkspace = '/api/v1/workspaces/:workspaceId';
    expect(
      (await ask('a-403', workspace.toUpperCase().replace('WORKSPACES', 'workspaces'), other.token)).status,
    ).toBe(403);
    expect(await linesOf('a-403')).toMatchObject([
      { ...about, status: 403, code: 'FORBIDDEN', userId: other.id, workspaceId, route: ofWorkspace },
    ]);
    await ask('a-404', `${workspace}/contents/Secret/Path.ts`, owner.token);
    expect(await linesOf('a-404')).toMatchObject([
      { ...about, status: 404, code: 'NOT_FOUND', userId: owner.id, route: `${ofWorkspace}/contents/*` },
    ]);
    await ask('no-route', '/secret/path', owner.token);
    expect(await linesOf('no-route')).toMatchObject([{ ...about, status: 404, code: 'NOT_FOUND' }]);
    await ask('a-401', workspace);
    expect(await linesOf('a-401')).toMatchObject([
      { ...about, status: 401, code: 'INVALID_TOKEN', userId: null },
    ]);
    await ask('a-400', `${workspace}/audit?limit=0`, owner.token);
    expect(await linesOf('a-400')).toMatchObject([{ ...about, status: 400, code: 'VALIDATION_ERROR' }]);
    await ask('a-200', workspace, owner.token);
    expect(await linesOf('a-200')).toMatchObject([{ level: 20, status: 200, code: null }]);
    expect(lines.join('').toLowerCase()).not.toContain('secret/path');
  });

  it('has one line for a request over a limit [REQ-60]', async () => {
    const from = { 'x-forwarded-for': '203.0.113.10' };
    const asked = Array.from({ length: 310 }, (_, at) => ask(`many-${at}`, '/workspaces', 'no-token', from));
    const at = (await Promise.all(asked)).findIndex(({ status }) => status === 429);
    expect(await linesOf(`many-${at}`)).toMatchObject([
      { status: 429, code: 'RATE_LIMITED', userId: null, address: '203.0.113.10' },
    ]);
  });

  it('has one line for each change of readiness, however often health is asked [REQ-31]', async () => {
    const health = server.app.get(StorageHealth);
    const check = health.check.bind(health);
    const asked = async (status: number): Promise<void> => {
      await waitFor(async () => (await server.get('/health/ready')).status === status, `ready ${status}`);
      for (let times = 0; times < 3; times += 1) await server.get('/health/ready');
    };
    lines.length = 0;
    health.check = () => Promise.reject(new Error('no disk'));
    await asked(503);
    health.check = check;
    await asked(200);
    const entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(entries.filter(({ context }) => context === 'Health')).toMatchObject([
      { level: 50, msg: 'The storage is not ready', reason: 'no disk' },
      { level: 30, msg: 'The storage is ready again' },
    ]);
    expect(lines.join('')).not.toContain('"stack"');
    expect(lines.join('')).not.toContain('/health');
  });

  it('has failed requests with their id and without secrets', async () => {
    const { credentials } = await server.register('log@example.com');
    const refused = await server.request('GET', '/workspaces?token=query-secret', undefined, {
      authorization: 'Bearer header-secret',
      cookie: 'access_token=cookie-secret',
      'x-request-id': 'from-the-caller',
    });
    let { refreshToken } = credentials;
    for (let times = 0; times < 2; times += 1) {
      const next = await server.request<Credentials>('POST', '/auth/refresh', { refreshToken });
      ({ refreshToken } = next.body);
    }
    await server.request('POST', '/auth/refresh', { refreshToken: credentials.refreshToken });
    new Logger('Careless').warn(
      { token: 'a-secret', login: { password: 'its-secret' } },
      'Logged by mistake',
    );
    const log = lines.join('');
    expect(refused.headers.get('x-request-id')).toBe('from-the-caller');
    expect(log).toContain('"requestId":"from-the-caller"');
    const reused = log.split('\n').filter((line) => line.includes('A refresh token was used twice'));
    expect(reused.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { level: 40, status: 401, route: '/api/v1/auth/refresh', userId: credentials.user.id },
    ]);
    expect(
      log
        .split('\n')
        .filter((line) => line.includes('/api/v1/auth/refresh","') && line.includes('"status":401')),
    ).toHaveLength(1);
    expect(log).toContain('Logged by mistake');
    for (const secret of [
      credentials.accessToken,
      credentials.refreshToken,
      refreshToken,
      'correct horse',
      '-secret',
      'scrypt',
    ]) {
      expect(log).not.toContain(secret);
    }
  });
});
