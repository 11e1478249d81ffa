import type { Credentials } from '@patchbay/protocol';
import type { Settings } from '../../src/config/config.js';
import { PASSWORD, startTestServer, type TestServer } from '../support/server.js';

describe('registration', () => {
  let server: TestServer;
  afterEach(() => server.close());
  const start = async (config: Partial<Settings>): Promise<void> =>
    void (server = await startTestServer({ config }));
  let last = 0;
  const register = (email = `user${(last += 1)}@example.com`) =>
    server.request<Credentials & { error: string }>('POST', '/auth/register', { email, password: PASSWORD });
  const login = (email: string) => server.request('POST', '/auth/login', { email, password: PASSWORD });

  it('is rejected when closed, and existing accounts can log in [REQ-24]', async () => {
    await start({});
    const { body } = await register();
    await server.app.close();
    const { dataDir } = server;
    server = await startTestServer({ config: { dataDir, registration: 'closed' } });
    const refused = await register();
    expect(refused).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
    expect(refused.body.error).toContain('Registration is closed');
    expect((await login(body.user.email)).status).toBe(200);
  });

  it('creates one first account, however many requests come at the same time [REQ-24]', async () => {
    await start({ registration: 'first' });
    const answers = await Promise.all(Array.from({ length: 5 }, () => register()));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 403, 403, 403, 403]);
    const winner = answers.find(({ status }) => status === 201)!;
    expect(await register()).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
    // Nobody learns whose account it is.
    expect((await register(winner.body.user.email)).status).toBe(403);
    expect((await login(winner.body.user.email)).status).toBe(200);
  });
});
