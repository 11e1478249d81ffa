import { JwtService } from '@nestjs/jwt';
import type { Credentials } from '@patchbay/protocol';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { PASSWORD, startTestServer, type TestServer } from '../support/server.js';
import { Clock } from '../../src/common/clock.js';
import { newId } from '../../src/common/ids.js';

const SECRET = 'a secret for tests that is long enough';

class HeldClock extends Clock {
  private offset = 0;

  now(): number {
    return Date.now() + this.offset;
  }

  pass(ms: number): void {
    this.offset += ms;
  }
}

describe('accounts', () => {
  let server: TestServer;
  const clock = new HeldClock();

  beforeAll(async () => {
    server = await startTestServer({ clock, config: { jwtSecret: SECRET } });
  });
  afterAll(() => server.close());

  const post = <T = Credentials>(path: string, body: unknown) =>
    server.request<T>('POST', `/auth/${path}`, body);

  it('are registered and logged in at once', async () => {
    const answer = await post('register', {
      email: 'Ada@Example.com',
      password: PASSWORD,
      fullName: 'Ada Lovelace',
    });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      user: { id: expect.any(String) as string, email: 'ada@example.com', fullName: 'Ada Lovelace' },
      accessToken: expect.any(String) as string,
      refreshToken: expect.any(String) as string,
      expiresIn: 900,
    });
    expect(
      await server.request('GET', '/workspaces', undefined, {
        authorization: `Bearer ${answer.body.accessToken}`,
      }),
    ).toMatchObject({ status: 200 });
  });

  it('have one email each, whatever its case', async () => {
    await server.register('twice@example.com');
    const again = await post('register', { email: 'TWICE@example.com', password: PASSWORD });
    expect(again).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
  });

  it('are logged in with the email in any case', async () => {
    const user = await server.register('case@example.com');
    const answer = await post('login', { email: 'CASE@example.com', password: PASSWORD });
    expect(answer).toMatchObject({ status: 200, body: { user: { id: user.id, fullName: null } } });
  });

  it('say the same of an unknown email and of a wrong password', async () => {
    const { email } = await server.register();
    const wrong = await post('login', { email, password: 'something else entirely' });
    const unknown = await post('login', { email: 'nobody@example.com', password: PASSWORD });
    expect(wrong).toMatchObject({
      status: 401,
      body: { error: 'Email or password is wrong', code: 'INVALID_TOKEN' },
    });
    expect([unknown.status, unknown.body]).toEqual([wrong.status, wrong.body]);
  });

  it.each([
    ['everything missing', {}, ['email', 'password']],
    ['no email at all', { email: 'ada', password: PASSWORD }, ['email']],
    ['an email that is too long', { email: `${'a'.repeat(251)}@b.com`, password: PASSWORD }, ['email']],
    ['a short password', { email: 'a@b.com', password: '12345678901' }, ['password']],
    ['a long password', { email: 'a@b.com', password: 'x'.repeat(257) }, ['password']],
    ['a password that is no text', { email: 'a@b.com', password: 123456789012 }, ['password']],
    ['a half character in the password', { email: 'a@b.com', password: `${PASSWORD}\ud800` }, ['password']],
    ['more than was asked for', { email: 'a@b.com', password: PASSWORD, admin: true }, ['admin']],
  ])('are not registered with %s', async (_, body, fields) => {
    const answer = await post<{ fields: object; code: string }>('register', body);
    expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
    expect(Object.keys(answer.body.fields)).toEqual(fields);
  });

  it('take an email and a password as long as they may be', async () => {
    const email = `${'a'.repeat(244)}@example.com`;
    const password = 'x'.repeat(256);
    expect(await post('register', { email, password, fullName: null })).toMatchObject({ status: 201 });
    expect(await post('login', { email, password })).toMatchObject({ status: 200 });
  });

  it('keep no password and no refresh token in the clear', async () => {
    const { credentials } = await server.register();
    for (const file of await readdir(server.dataDir)) {
      const content = await readFile(join(server.dataDir, file), 'latin1');
      expect(content).not.toContain(PASSWORD);
      expect(content).not.toContain(credentials.refreshToken);
    }
  });
});

describe('refresh tokens', () => {
  let server: TestServer;
  const clock = new HeldClock();

  beforeAll(async () => {
    server = await startTestServer({ clock });
  });
  afterAll(() => server.close());

  const refresh = (refreshToken: string) =>
    server.request<Credentials>('POST', '/auth/refresh', { refreshToken });

  it('are exchanged for new tokens of the same user', async () => {
    const user = await server.register(undefined, 'Ada');
    const { status, body } = await refresh(user.credentials.refreshToken);
    expect({ status, user: body.user, expiresIn: body.expiresIn }).toEqual({
      status: 200,
      user: user.credentials.user,
      expiresIn: 900,
    });
    expect(body.refreshToken).not.toBe(user.credentials.refreshToken);
  });

  it('work once: one that was used up, used again, ends the login for both who hold it [REQ-7]', async () => {
    const { credentials } = await server.register();
    const second = await refresh(credentials.refreshToken);
    clock.pass(30_000);
    expect(await refresh(credentials.refreshToken)).toMatchObject({
      status: 401,
      body: { code: 'INVALID_TOKEN' },
    });
    expect((await refresh(second.body.refreshToken)).status).toBe(401);
  });

  it('are found to be used up however many came after them', async () => {
    const { credentials } = await server.register();
    const second = await refresh(credentials.refreshToken);
    const third = await refresh(second.body.refreshToken);
    expect((await refresh(credentials.refreshToken)).status).toBe(401);
    expect((await refresh(third.body.refreshToken)).status).toBe(401);
  });

  it('work once more for thirty seconds, for a client that never had the answer [REQ-7]', async () => {
    const { credentials } = await server.register();
    await refresh(credentials.refreshToken);
    clock.pass(29_000);
    const again = await refresh(credentials.refreshToken);
    expect(again.status).toBe(200);
    expect((await refresh(again.body.refreshToken)).status).toBe(200);
  });

  it('end the login where both who used one go on with what they got', async () => {
    const { credentials } = await server.register();
    const answers = await Promise.all([refresh(credentials.refreshToken), refresh(credentials.refreshToken)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const statuses = [];
    for (const { body } of answers) statuses.push((await refresh(body.refreshToken)).status);
    expect(statuses).toContain(401);
    for (const { body } of answers) expect((await refresh(body.refreshToken)).status).toBe(401);
  });

  it('do not work a third time', async () => {
    const { credentials } = await server.register();
    await refresh(credentials.refreshToken);
    const second = await refresh(credentials.refreshToken);
    expect((await refresh(credentials.refreshToken)).status).toBe(401);
    expect((await refresh(second.body.refreshToken)).status).toBe(401);
  });

  it('that are forged from the id of a login do it no harm [REQ-7]', async () => {
    const { credentials } = await server.register();
    const [id, family = ''] = credentials.refreshToken.split('.');
    const forged = [
      `${id}.zzz`,
      `${id}..zzz`,
      `${id}.zzz.zzz`,
      `${id}.${family.slice(1)}.zzz`,
      `${id}.${family}`,
    ];
    for (const refreshToken of forged) {
      expect((await server.request('POST', '/auth/logout', { refreshToken })).status).toBe(204);
      expect((await refresh(refreshToken)).status).toBe(401);
    }
    expect((await refresh(credentials.refreshToken)).status).toBe(200);
  });

  it('that are not the newest log out too', async () => {
    const { credentials } = await server.register();
    const second = await refresh(credentials.refreshToken);
    await server.request('POST', '/auth/logout', { refreshToken: credentials.refreshToken });
    expect((await refresh(second.body.refreshToken)).status).toBe(401);
  });

  it('of one login say nothing about another of the same user', async () => {
    const user = await server.register();
    const other = await server.request<Credentials>('POST', '/auth/login', {
      email: user.email,
      password: PASSWORD,
    });
    await server.request('POST', '/auth/logout', { refreshToken: user.credentials.refreshToken });
    expect((await refresh(user.credentials.refreshToken)).status).toBe(401);
    expect((await refresh(other.body.refreshToken)).status).toBe(200);
  });

  it('that nobody knows are refused, and as good as logged out', async () => {
    for (const refreshToken of ['', 'x', `${newId()}.secret`]) {
      expect((await refresh(refreshToken)).status).toBe(401);
      expect((await server.request('POST', '/auth/logout', { refreshToken })).status).toBe(204);
    }
  });

  it('live for thirty days from the last exchange', async () => {
    const { credentials } = await server.register();
    clock.pass(29 * 24 * 60 * 60_000);
    const second = await refresh(credentials.refreshToken);
    clock.pass(29 * 24 * 60 * 60_000);
    const third = await refresh(second.body.refreshToken);
    expect(third.status).toBe(200);
    clock.pass(30 * 24 * 60 * 60_000);
    expect((await refresh(third.body.refreshToken)).status).toBe(401);
  });
});

describe('access tokens', () => {
  let server: TestServer;
  const clock = new HeldClock();
  const claims = { sub: newId(), email: 'a@b.com', fullName: null, jti: newId() };

  beforeAll(async () => {
    server = await startTestServer({ clock, config: { jwtSecret: SECRET } });
  });
  afterAll(() => server.close());

  const statusWith = async (token: string) =>
    (await server.request('GET', '/workspaces', undefined, { authorization: `Bearer ${token}` })).status;
  const inAnHour = () => Math.floor(clock.now() / 1000) + 3600;

  it('carry the user and an id of their own', async () => {
    const { credentials } = await server.register(undefined, 'Ada');
    const decoded = new JwtService({}).decode<Record<string, unknown>>(credentials.accessToken);
    expect(decoded).toMatchObject({
      sub: credentials.user.id,
      email: credentials.user.email,
      fullName: 'Ada',
    });
    expect(decoded.jti).toEqual(expect.any(String));
  });

  it('end after fifteen minutes', async () => {
    const { token } = await server.register();
    clock.pass(14 * 60_000);
    expect(await statusWith(token)).toBe(200);
    clock.pass(60_000 + 1000);
    expect(await statusWith(token)).toBe(401);
  });

  it('are accepted when signed with our secret, HS256, with an end and a user', async () => {
    const sign = (payload: object, secret = SECRET, algorithm: 'HS256' | 'HS512' = 'HS256') =>
      new JwtService({ secret }).sign(payload, { algorithm });
    expect(await statusWith(sign({ ...claims, exp: inAnHour() }))).toBe(200);
    expect(await statusWith(sign({ ...claims, exp: inAnHour() }, 'another secret that is long enough'))).toBe(
      401,
    );
    expect(await statusWith(sign({ ...claims, exp: inAnHour() }, SECRET, 'HS512'))).toBe(401);
    expect(await statusWith(sign(claims))).toBe(401);
    expect(await statusWith(sign({ ...claims, sub: 'ada', exp: inAnHour() }))).toBe(401);
  });

  it('are refused without a signature', async () => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const unsigned = `${part({ alg: 'none', typ: 'JWT' })}.${part({ ...claims, exp: inAnHour() })}.`;
    expect(await statusWith(unsigned)).toBe(401);
  });
});

describe('the signing secret', () => {
  it('is made once and kept in the data directory, for its owner only', async () => {
    const first = await startTestServer();
    const { token } = await first.register();
    const path = join(first.dataDir, 'jwt-secret');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    await first.app.close();
    const second = await startTestServer({ config: { dataDir: first.dataDir } });
    const answer = await second.request('GET', '/workspaces', undefined, {
      authorization: `Bearer ${token}`,
    });
    expect(answer.status).toBe(200);
    await second.close();
    await first.close();
  });
});

describe('failed logins', () => {
  let server: TestServer;
  let email: string;
  const clock = new HeldClock();

  beforeAll(async () => {
    server = await startTestServer({ clock, config: { rateLimit: 1000 } });
  });
  beforeEach(async () => {
    ({ email } = await server.register());
  });
  afterAll(() => server.close());

  const login = (password: string) => server.request('POST', '/auth/login', { email, password });
  const loginsAtOnce = async (count: number, password: string) =>
    (await Promise.all(Array.from({ length: count }, () => login(password)))).map(({ status }) => status);

  it('are limited for each email, and forgotten after a success', async () => {
    for (let i = 0; i < 9; i += 1) expect((await login('wrong')).status).toBe(401);
    expect((await login(PASSWORD)).status).toBe(200);
    await loginsAtOnce(10, 'wrong');
    expect(await login(PASSWORD)).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } });
  });

  it('are over when Retry-After says so, however often somebody tries in between', async () => {
    await loginsAtOnce(10, 'wrong');
    clock.pass(14 * 60_000);
    const refused = await login('wrong');
    expect(refused.status).toBe(429);
    const retryAfter = Number(refused.headers.get('retry-after'));
    expect(retryAfter).toBeLessThanOrEqual(60);
    clock.pass(retryAfter * 1000);
    expect((await login(PASSWORD)).status).toBe(200);
  });

  it('are the only ones that count: right ones at once all succeed', async () => {
    expect(new Set(await loginsAtOnce(25, PASSWORD))).toEqual(new Set([200]));
  });

  it('do not exceed the limit side by side', async () => {
    const statuses = await loginsAtOnce(25, 'wrong');
    expect(statuses.filter((status) => status === 401)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(15);
  });
});
