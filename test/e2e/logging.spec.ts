import { startTestServer } from '../support/server.js';

// A file of its own: nestjs-pino keeps one logger a process, that of the first app.
describe('the log', () => {
  it('has requests that failed under their id, and no secret', async () => {
    const lines: string[] = [];
    const server = await startTestServer({
      config: { logLevel: 'trace' },
      logDestination: { write: (line: string) => void lines.push(line) },
    });
    const { credentials } = await server.register('log@example.com');
    const refused = await server.request('GET', '/workspaces?token=query-secret', undefined, {
      authorization: 'Bearer header-secret',
      cookie: 'access_token=cookie-secret',
      'x-request-id': 'from-the-caller',
    });
    for (let times = 0; times < 3; times += 1) {
      await server.request('POST', '/auth/refresh', { refreshToken: credentials.refreshToken });
    }
    await server.close();
    const log = lines.join('');
    expect(refused.headers.get('x-request-id')).toBe('from-the-caller');
    expect(log).toContain('"id":"from-the-caller"');
    expect(log).toContain('A refresh token was used twice');
    for (const secret of [
      credentials.accessToken,
      credentials.refreshToken,
      'correct horse',
      '-secret',
      'scrypt',
    ]) {
      expect(log).not.toContain(secret);
    }
  });
});
