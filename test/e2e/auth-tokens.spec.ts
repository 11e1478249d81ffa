import { JwtService } from '@nestjs/jwt';
import type { Credentials, ErrorBody } from '@patchbay/protocol';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { storesOf } from '../contract/backends.js';
import { describeEmbedded } from '../support/backend.js';
import { suiteFixture } from '../support/fixtures.js';
import { hold } from '../support/hold.js';
import { PASSWORD, startTestServer, type TestUser } from '../support/server.js';
import { newId } from '../../src/common/ids.js';
import { ShiftedClock } from '../support/shifted-clock.js';

const SECRET = 'a secret for tests that is long enough';

describe('refresh tokens', () => {
  const server = suiteFixture(() => startTestServer({ clock }));
  const clock = new ShiftedClock();

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

  it('reuse of a rotated token ends the login for both holders [REQ-7]', async () => {
    const { credentials } = await server.register();
    const second = await refresh(credentials.refreshToken);
    const third = await refresh(second.body.refreshToken);
    expect(await refresh(credentials.refreshToken)).toMatchObject({
      status: 401,
      body: { code: 'INVALID_TOKEN' },
    });
    expect((await refresh(third.body.refreshToken)).status).toBe(401);
  });

  it('reuse is detected however many tokens were issued since', async () => {
    const { credentials } = await server.register();
    const second = await refresh(credentials.refreshToken);
    const third = await refresh(second.body.refreshToken);
    expect((await refresh(credentials.refreshToken)).status).toBe(401);
    expect((await refresh(third.body.refreshToken)).status).toBe(401);
  });

  it('stay valid until the successor is used, for a client that lost the answer [REQ-7]', async () => {
    const { credentials } = await server.register();
    await refresh(credentials.refreshToken);
    for (const ms of [1_000, 60_000, 24 * 60 * 60_000]) {
      clock.pass(ms);
      const again = await refresh(credentials.refreshToken);
      expect(again.status).toBe(200);
      expect(again.body.user).toEqual(credentials.user);
    }
    const last = await refresh(credentials.refreshToken);
    expect((await refresh(last.body.refreshToken)).status).toBe(200);
    expect((await refresh(credentials.refreshToken)).status).toBe(401);
  });

  it('two concurrent refreshes get the same successor and both go on [REQ-7]', async () => {
    const { credentials } = await server.register();
    let tokens = Array.from({ length: 5 }, () => credentials.refreshToken);
    for (let round = 0; round < 3; round += 1) {
      const answers = await Promise.all(tokens.map(refresh));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
      tokens = answers.map(({ body }) => body.refreshToken);
      expect(new Set(tokens).size).toBe(1);
      clock.pass(15 * 60_000);
    }
  });

  it('two refreshes before the first is written get the same successor [REQ-7]', async () => {
    const { credentials } = await server.register();
    const slow = hold(storesOf(server.app).logins, 'rotate');
    const both = [refresh(credentials.refreshToken), refresh(credentials.refreshToken)];
    await slow.reachedBy(2);
    slow.release();
    const [first, second] = (await Promise.all(both)).map(({ body }) => body.refreshToken);
    expect(second).toBe(first);
    expect((await refresh(first!)).status).toBe(200);
  });

  it('a token whose successor was used by somebody else ends the login [REQ-7]', async () => {
    const { credentials } = await server.register();
    const stolen = await refresh(credentials.refreshToken);
    clock.pass(60_000);
    const own = await refresh(credentials.refreshToken);
    expect(own.body.refreshToken).not.toBe(stolen.body.refreshToken);
    expect((await refresh(stolen.body.refreshToken)).status).toBe(401);
    expect((await refresh(own.body.refreshToken)).status).toBe(401);
  });

  it('a token forged from the id of a login does not harm the login [REQ-7]', async () => {
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

  it('log out with a token that is not the newest', async () => {
    const { credentials } = await server.register();
    const second = await refresh(credentials.refreshToken);
    await server.request('POST', '/auth/logout', { refreshToken: credentials.refreshToken });
    expect((await refresh(second.body.refreshToken)).status).toBe(401);
  });

  it('are invalid once the logout is answered', async () => {
    const { credentials } = await server.register();
    const slow = hold(storesOf(server.app).logins, 'remove');
    let isAnswered = false;
    const logout = server
      .request('POST', '/auth/logout', { refreshToken: credentials.refreshToken })
      .then(() => (isAnswered = true));
    await slow.reached;
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(isAnswered).toBe(false);
    slow.release();
    await logout;
    expect((await refresh(credentials.refreshToken)).status).toBe(401);
  });

  it('do not affect another login of the same user', async () => {
    const user = await server.register();
    const other = await server.request<Credentials>('POST', '/auth/login', {
      email: user.email,
      password: PASSWORD,
    });
    await server.request('POST', '/auth/logout', { refreshToken: user.credentials.refreshToken });
    expect((await refresh(user.credentials.refreshToken)).status).toBe(401);
    expect((await refresh(other.body.refreshToken)).status).toBe(200);
  });

  it('rejects an unknown token, and answers its logout with success', async () => {
    for (const refreshToken of ['', 'x', `${newId()}.secret`]) {
      expect((await refresh(refreshToken)).status).toBe(401);
      expect((await server.request('POST', '/auth/logout', { refreshToken })).status).toBe(204);
    }
  });

  it('expire thirty days after the last exchange', async () => {
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
  const server = suiteFixture(() => startTestServer({ clock, config: { jwtSecret: SECRET } }));
  const clock = new ShiftedClock();

  const request = (token: string) =>
    server.request<Partial<ErrorBody>>('GET', '/workspaces', undefined, { authorization: `Bearer ${token}` });
  const statusWith = async (token: string) => (await request(token)).status;
  const refusalOf = async (token: string) => (await request(token)).body.error;
  const inAnHour = () => Math.floor(clock.now() / 1000) + 3600;

  it('carry the user and a unique id', async () => {
    const { credentials } = await server.register(undefined, 'Ada');
    const decoded = new JwtService({}).decode<Record<string, unknown>>(credentials.accessToken);
    expect(decoded).toMatchObject({
      sub: credentials.user.id,
      email: credentials.user.email,
      fullName: 'Ada',
    });
    expect(decoded.jti).toEqual(expect.any(String));
  });

  it('expire after fifteen minutes', async () => {
    const { token } = await server.register();
    clock.pass(14 * 60_000);
    expect(await statusWith(token)).toBe(200);
    clock.pass(60_000 + 1000);
    expect(await statusWith(token)).toBe(401);
    expect(await refusalOf(token)).toBe('The access token has expired');
    expect(await refusalOf('nonsense')).toBe('No valid token found in Authorization header or cookie');
  });

  it('are rejected after their login has ended, whoever logged out [REQ-8]', async () => {
    const [ada, ben] = [await server.register(), await server.register()];
    const logout = ({ credentials: { refreshToken } }: TestUser) =>
      server.request('POST', '/auth/logout', { refreshToken });
    expect(await statusWith(ada.token)).toBe(200);
    await logout(ada);
    expect(await statusWith(ada.token)).toBe(401);
    expect(await refusalOf(ada.token)).toBe('The login of this access token has ended');
    clock.pass(10 * 60_000);
    await logout(ben);
    expect([await statusWith(ada.token), await statusWith(ben.token)]).toEqual([401, 401]);
  });

  it('are accepted when signed by the server’s secret with HS256, with an expiry, a user and a login of that user', async () => {
    const sign = (payload: object, secret = SECRET, algorithm: 'HS256' | 'HS512' = 'HS256') =>
      new JwtService({ secret }).sign(payload, { algorithm });
    const [{ id: sub, token }, other] = [await server.register(), await server.register()];
    const { login } = new JwtService({}).decode<{ login: string }>(token);
    const claims = { sub, login, email: 'a@b.com', fullName: null, jti: newId() };
    expect(await statusWith(sign({ ...claims, exp: inAnHour() }))).toBe(200);
    expect(await statusWith(sign({ ...claims, exp: inAnHour() }, 'another secret that is long enough'))).toBe(
      401,
    );
    expect(await statusWith(sign({ ...claims, exp: inAnHour() }, SECRET, 'HS512'))).toBe(401);
    expect(await statusWith(sign(claims))).toBe(401);
    for (const change of [{ sub: 'ada' }, { sub: other.id }, { login: undefined }, { login: newId() }])
      expect(await statusWith(sign({ ...claims, ...change, exp: inAnHour() }))).toBe(401);
  });

  it('are rejected without a signature', async () => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const { token } = await server.register();
    const claims = new JwtService({}).decode<object>(token);
    const unsigned = `${part({ alg: 'none', typ: 'JWT' })}.${part({ ...claims, exp: inAnHour() })}.`;
    expect(await statusWith(unsigned)).toBe(401);
  });
});

describeEmbedded('the signing secret', () => {
  it('is created once and kept in the data directory, readable by its owner only', async () => {
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

  it('a truncated secret keeps the server from starting', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'patchbay-'));
    await writeFile(join(dataDir, 'jwt-secret'), 'short');
    await expect(startTestServer({ config: { dataDir } })).rejects.toThrow('is damaged');
    await rm(dataDir, { recursive: true });
  });
});
