import type { Credentials } from '@patchbay/protocol';
import { createHook } from 'node:async_hooks';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { storesOf } from '../contract/backends.js';
import { suiteFixture } from '../support/fixtures.js';
import { hold } from '../support/hold.js';
import { PASSWORD, startTestServer } from '../support/server.js';

describe('accounts', () => {
  const server = suiteFixture(() => startTestServer());

  const post = <T = Credentials>(path: string, body: unknown) =>
    server.request<T>('POST', `/auth/${path}`, body);

  it('registration logs in', async () => {
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

  it('rejects a registered email in another case', async () => {
    await server.register('twice@example.com');
    const again = await post('register', { email: 'TWICE@example.com', password: PASSWORD });
    expect(again).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
  });

  it('registers one of several concurrent requests with one email, in any Unicode form', async () => {
    const forms = ['jos\u00e9@example.com', 'jose\u0301@example.com'];
    const slow = hold(storesOf(server.app).users, 'insert');
    const all = [...forms, ...forms].map((email) => post('register', { email, password: PASSWORD }));
    await slow.reachedBy(all.length);
    slow.release();
    const statuses = (await Promise.all(all)).map(({ status }) => status);
    expect(statuses.sort()).toEqual([201, 409, 409, 409]);
  });

  it('logs in with the email in any case', async () => {
    const user = await server.register('case@example.com');
    const answer = await post('login', { email: 'CASE@example.com', password: PASSWORD });
    expect(answer).toMatchObject({ status: 200, body: { user: { id: user.id, fullName: null } } });
  });

  it('gives the same answer to an unknown email and to a wrong password', async () => {
    const { email } = await server.register();
    const wrong = await post('login', { email, password: 'something else entirely' });
    const unknown = await post('login', { email: 'nobody@example.com', password: PASSWORD });
    expect(wrong).toMatchObject({
      status: 401,
      body: { error: 'Email or password is wrong', code: 'INVALID_TOKEN' },
    });
    expect([unknown.status, unknown.body]).toEqual([wrong.status, wrong.body]);
  });

  it('an unknown email costs the hashing of a password', async () => {
    let hashed = 0;
    const hook = createHook({
      init: (_, type) => void (hashed += type === 'SCRYPTREQUEST' ? 1 : 0),
    }).enable();
    await post('login', { email: 'nobody@example.com', password: PASSWORD });
    hook.disable();
    expect(hashed).toBe(1);
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
  ])('rejects a registration with %s', async (_, body, fields) => {
    const answer = await post<{ fields: object; code: string }>('register', body);
    expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
    expect(Object.keys(answer.body.fields)).toEqual(fields);
  });

  it('accepts an email and a password of the maximum length', async () => {
    const email = `${'a'.repeat(244)}@example.com`;
    const password = 'x'.repeat(256);
    expect(await post('register', { email, password, fullName: null })).toMatchObject({ status: 201 });
    expect(await post('login', { email, password })).toMatchObject({ status: 200 });
  });

  it('stores neither passwords nor refresh tokens in plain text', async () => {
    const { credentials } = await server.register();
    for (const file of await readdir(server.dataDir)) {
      const content = await readFile(join(server.dataDir, file), 'latin1');
      expect(content).not.toContain(PASSWORD);
      expect(content).not.toContain(credentials.refreshToken);
    }
  });
});
