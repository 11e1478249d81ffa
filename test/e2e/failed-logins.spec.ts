import { FailedLogins } from '../../src/auth/failed-logins.js';
import { suiteFixture } from '../support/fixtures.js';
import { PASSWORD, startTestServer } from '../support/server.js';
import { ShiftedClock } from '../support/shifted-clock.js';

describe('failed logins', () => {
  const server = suiteFixture(() =>
    startTestServer({
      clock,
      config: { rateLimit: 1000, trustedProxies: ['127.0.0.1'] },
    }),
  );
  let email: string;
  let here: string;
  const clock = new ShiftedClock();

  beforeEach(async () => {
    ({ email } = await server.register());
    here = anAddress();
  });

  let last = 0;
  /** An address that nobody came from before. */
  const anAddress = (): string => {
    last += 1;
    return `10.${last >> 16}.${(last >> 8) & 255}.${last & 255}`;
  };
  const login = (password: string, address = here, account = email) =>
    server.request('POST', '/auth/login', { email: account, password }, { 'x-forwarded-for': address });
  const loginsAtOnce = async (count: number, password: string) =>
    (await Promise.all(Array.from({ length: count }, () => login(password)))).map(({ status }) => status);

  it('are limited for each account and address, and reset by a success [REQ-23]', async () => {
    for (let i = 0; i < 9; i += 1) expect((await login('wrong')).status).toBe(401);
    expect((await login(PASSWORD)).status).toBe(200);
    await loginsAtOnce(10, 'wrong');
    expect(await login(PASSWORD)).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } });
  });

  it('of another address do not block the owner of the account [REQ-23]', async () => {
    await loginsAtOnce(12, 'wrong');
    expect((await login('wrong')).status).toBe(429);
    expect((await login(PASSWORD, anAddress())).status).toBe(200);
  });

  it('are allowed again after Retry-After, however many attempts came meanwhile', async () => {
    await loginsAtOnce(10, 'wrong');
    clock.pass(14 * 60_000);
    const refused = await login('wrong');
    expect(refused.status).toBe(429);
    const retryAfter = Number(refused.headers.get('retry-after'));
    expect(retryAfter).toBeLessThanOrEqual(60);
    clock.pass(retryAfter * 1000);
    expect((await login(PASSWORD)).status).toBe(200);
  });

  it('are counted, and concurrent correct logins all succeed', async () => {
    expect(new Set(await loginsAtOnce(12, PASSWORD))).toEqual(new Set([200]));
  });

  /** As many wrong passwords as an address may bring before those from it have to wait. */
  const crowd = (): Promise<unknown> => {
    const logins = server.app.get(FailedLogins);
    const guesses = Array.from({ length: 100 }, (_, n) => `${n}@${here}`);
    return Promise.all(guesses.map((account) => logins.attempt(account, here, () => Promise.resolve(null))));
  };

  it('of one user block other users of the address for seconds only [REQ-23]', async () => {
    await crowd();
    const guesses = [0, 1].map((n) => login('wrong', here, `guess${n}@example.com`));
    expect((await login(PASSWORD)).status).toBe(200);
    expect((await Promise.all(guesses)).map(({ status }) => status)).toEqual([401, 401]);
  });

  it('do not block an account whose owner has used the address with a token [REQ-23]', async () => {
    const other = await server.register();
    const { refreshToken } = other.credentials;
    const from = { 'x-forwarded-for': here };
    expect((await server.request('POST', '/auth/refresh', { refreshToken }, from)).status).toBe(200);
    await crowd();
    const ofOthers: number[] = [];
    const guesses = [0, 1].map(async (n) =>
      ofOthers.push((await login('wrong', here, `line${n}@b.com`)).status),
    );
    expect((await login(PASSWORD, here, other.email)).status).toBe(200);
    expect(ofOthers.length).toBeLessThan(2);
    await Promise.all(guesses);
  });
});

describe('failed logins of a server without rate limits', () => {
  it('are limited too [REQ-23]', async () => {
    const server = await startTestServer({ config: { rateLimit: null } });
    const { email } = await server.register();
    const login = async (password: string): Promise<number> =>
      (await server.request('POST', '/auth/login', { email, password })).status;
    for (let times = 0; times < 10; times += 1) expect(await login('wrong')).toBe(401);
    expect([await login('wrong'), await login(PASSWORD)]).toEqual([429, 429]);
    await server.close();
  });
});
