import { Logger } from '@nestjs/common';
import type { Credentials } from '@patchbay/protocol';
import { startTestServer, type TestServer } from '../support/server.js';

describe('the log', () => {
  const lines: string[] = [];
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({
      config: { logLevel: 'trace', rateLimit: 1000, trustedProxies: ['127.0.0.1'] },
      logDestination: { write: (line: string) => void lines.push(line) },
    });
  });
  afterAll(() => server.close());

  it('has logins that failed with the address and the account, never with the email or the password', async () => {
    const user = await server.register('victim@example.com');
    const from = { 'x-forwarded-for': '203.0.113.7' };
    for (const email of ['victim@example.com', 'nobody@example.com'])
      await server.request('POST', '/auth/login', { email, password: 'guessed-password' }, from);
    for (let times = 0; times < 10; times += 1)
      await server.request('POST', '/auth/login', { email: 'victim@example.com', password: 'guess' }, from);
    const told = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(told.filter(({ msg }) => msg === 'A login failed').slice(0, 2)).toMatchObject([
      { address: '203.0.113.7', userId: user.id },
      { address: '203.0.113.7', userId: null },
    ]);
    expect(told).toContainEqual(
      expect.objectContaining({ msg: 'A login was refused: too many have failed', address: '203.0.113.7' }),
    );
    for (const secret of ['victim@', 'nobody@', 'guess']) expect(lines.join('')).not.toContain(secret);
  });

  it('has requests that failed under their id, and no secret', async () => {
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
    expect(log).toContain('"id":"from-the-caller"');
    expect(log).toContain('A refresh token was used twice');
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
