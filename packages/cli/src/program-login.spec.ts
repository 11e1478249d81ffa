import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EXIT } from './cli-error.js';

import { CliFixture, FOREIGN_WORKSPACE, TOKEN, UNKNOWN, WORKSPACE } from './program.sample.js';

describe('patchbay', () => {
  const fixture = new CliFixture();
  const { patchbay, loginAs } = fixture;
  beforeEach(() => fixture.open());
  afterEach(() => fixture.close());

  const storedLogin = async () => {
    const stored = JSON.parse(await readFile(join(fixture.home, 'credentials.json'), 'utf8')) as {
      logins: Record<string, object>;
    };
    return stored.logins[fixture.url];
  };

  describe('the workspace', () => {
    const other = { ...WORKSPACE, id: 'w2', name: 'other' };
    const eventsOf = (...flags: string[]) => patchbay(['audit', ...flags]);
    const lastRoute = () => fixture.requests.at(-1)!.route.split('?')[0];
    beforeEach(() => {
      for (const id of ['w1', 'w2', UNKNOWN]) {
        fixture.routes[`GET /workspaces/${id}/audit`] = () => [200, { events: [], nextCursor: null }];
      }
      fixture.routes['GET /workspaces'] = () => [200, { workspaces: [WORKSPACE, other] }];
    });

    it('may be given by its name', async () => {
      await loginAs('--workspace', 'w1');
      expect(await eventsOf('--workspace', 'other')).toBe(EXIT.ok);
      expect(lastRoute()).toBe('GET /workspaces/w2/audit');
    });

    it('is looked up once if its id is given', async () => {
      fixture.routes[`GET /workspaces/${UNKNOWN}`] = () => [200, { ...FOREIGN_WORKSPACE, id: UNKNOWN }];
      for (const sent of [2, 3]) {
        expect(await eventsOf('--token', TOKEN, '--workspace', UNKNOWN)).toBe(EXIT.ok);
        expect(fixture.requests).toHaveLength(sent);
        expect(fixture.err.text).toBe(`Workspace "other" (${UNKNOWN}), of bob@example.com.\n`);
      }
    });

    it.each([
      [
        'none',
        'nobody',
        EXIT.refused,
        'You are not a member of a workspace "nobody". Your workspaces: "acme" (w1); "other" (w2).',
      ],
      ['several', 'twin', EXIT.usage, 'Several workspaces have the name "twin": pass --workspace <id>.'],
    ])('is rejected with a clear message if %s has the name', async (_what, name, exitCode, message) => {
      if (name === 'twin') {
        const twins = ['w1', 'w2'].map((id) => ({ ...WORKSPACE, id, name }));
        fixture.routes['GET /workspaces'] = () => [200, { workspaces: twins }];
      }
      expect(await eventsOf('--token', TOKEN, '--workspace', name)).toBe(exitCode);
      expect(fixture.err.text).toContain(message);
    });

    it('of a token is the only one that its user is a member of', async () => {
      fixture.routes['GET /workspaces'] = () => [200, { workspaces: [other] }];
      expect(await eventsOf('--token', TOKEN)).toBe(EXIT.ok);
      expect(lastRoute()).toBe('GET /workspaces/w2/audit');
    });

    it('of a token must be chosen if there are several', async () => {
      expect(await eventsOf('--token', TOKEN)).toBe(EXIT.usage);
      expect(fixture.err.text).toContain(
        'Choose one with --workspace <id>. Your workspaces: "acme" (w1); "other" (w2).',
      );
    });

    it('is the only one there is after a login that chose none', async () => {
      fixture.routes['GET /workspaces'] = () => [200, { workspaces: [other] }];
      await loginAs('--workspace', 'nobody');
      expect(await eventsOf()).toBe(EXIT.ok);
      expect(lastRoute()).toBe('GET /workspaces/w2/audit');
    });
  });

  describe('a workspace of someone else', () => {
    const audit = `GET /workspaces/w2/audit`;
    const eventsOf = (...flags: string[]) => patchbay(['audit', '--token', TOKEN, ...flags]);
    beforeEach(() => {
      fixture.routes['GET /workspaces'] = () => [200, { workspaces: [FOREIGN_WORKSPACE] }];
      for (const id of ['w1', 'w2'])
        fixture.routes[`GET /workspaces/${id}/audit`] = () => [200, { events: [], nextCursor: null }];
    });

    it.each([
      ['the only one there is', []],
      ['named by its name alone', ['--workspace', 'other']],
    ])('is not used by itself if nobody can be asked and it is %s', async (_what, flags) => {
      expect(await eventsOf(...flags)).toBe(EXIT.usage);
      expect(fixture.err.text).toBe(
        'patchbay: Workspace "other" (w2), of bob@example.com was not created by you, and you have not chosen it here ' +
          'before. To use it, pass --workspace w2.\n',
      );
      expect(fixture.requests.map(({ route }) => route)).toEqual(['GET /workspaces']);
    });

    it('is not chosen by a login, nor used from a login of an older version', async () => {
      expect(await loginAs()).toBe(EXIT.usage);
      expect(await storedLogin()).toMatchObject({ workspaceId: null });
      const credentials = join(fixture.home, 'credentials.json');
      const stored = await readFile(credentials, 'utf8');
      await writeFile(credentials, stored.replace('"workspaceId": null', '"workspaceId": "w2"'));
      fixture.routes['GET /workspaces/w2'] = () => [200, FOREIGN_WORKSPACE];
      expect(await patchbay(['audit'])).toBe(EXIT.usage);
      expect(fixture.requests.at(-1)!.route).toBe('GET /workspaces/w2');
    });

    it('does not replace a workspace of the same name that the user created', async () => {
      fixture.routes['GET /workspaces'] = () => [
        200,
        { workspaces: [{ ...FOREIGN_WORKSPACE, name: 'acme' }, WORKSPACE] },
      ];
      for (const flags of [[], ['--workspace', 'acme']]) {
        expect(await eventsOf(...flags)).toBe(EXIT.ok);
        expect(fixture.requests.at(-1)!.route).toMatch(/^GET \/workspaces\/w1\/audit/);
      }
    });

    it('is used once the person agrees, which is remembered, and its owner is named each time', async () => {
      expect(await patchbay(['audit', '--token', TOKEN], { stdin: 'no\n', isTTY: true })).toBe(EXIT.usage);
      expect(await patchbay(['audit', '--token', TOKEN], { stdin: 'yes\n', isTTY: true })).toBe(EXIT.ok);
      expect(fixture.err.text).toContain(
        'Workspace "other" (w2), of bob@example.com was not created by you.',
      );
      fixture.routes['GET /workspaces/w2'] = () => [200, FOREIGN_WORKSPACE];
      expect(await eventsOf('--workspace', 'w2')).toBe(EXIT.ok);
      expect(fixture.err.text).toBe('Workspace "other" (w2), of bob@example.com.\n');
      expect(fixture.requests.at(-1)!.route).toContain(audit);
    });

    it("that its creator has left to the user is still not taken for the user's own", async () => {
      const left = { ...FOREIGN_WORKSPACE, owners: WORKSPACE.owners };
      fixture.routes['GET /workspaces'] = () => [200, { workspaces: [left] }];
      expect(await eventsOf()).toBe(EXIT.usage);
      expect(fixture.err.text).toContain('of a former member');
    });

    it('is shown with its owner if a login has several to choose from', async () => {
      fixture.routes['GET /workspaces'] = () => [200, { workspaces: [WORKSPACE, FOREIGN_WORKSPACE] }];
      const env = { PATCHBAY_PASSWORD: 'from the environment' };
      const args = ['login', '--email', 'ada@example.com'];
      expect(await patchbay(args, { stdin: '2\n', env, isTTY: true })).toBe(EXIT.ok);
      expect(fixture.err.text).toContain('  1  acme, created by you\n  2  other, of bob@example.com\n');
      expect(fixture.out.text).toContain('workspace "other" (w2), of bob@example.com.\n');
    });
  });

  describe('login', () => {
    it('reads the password from stdin, and stores user and server', async () => {
      expect(await loginAs()).toBe(EXIT.ok);
      expect(fixture.requests[0]!.body).toEqual({
        email: 'ada@example.com',
        password: 'correct horse battery',
      });
      expect(fixture.out.text).toBe(
        `Logged in to ${fixture.url} as ada@example.com, workspace "acme" (w1).\n`,
      );
      const stored = JSON.parse(await readFile(join(fixture.home, 'credentials.json'), 'utf8')) as object;
      expect(stored).toMatchObject({
        current: fixture.url,
        logins: { [fixture.url]: { workspaceId: 'w1' } },
      });
    });

    it('reads the password from the environment', async () => {
      const env = { PATCHBAY_PASSWORD: 'from the environment' };
      await patchbay(['login', '--email', 'ada@example.com'], { env });
      expect(fixture.requests[0]!.body.password).toBe('from the environment');
    });

    it('creates the account with --register, and a workspace for a user without one', async () => {
      fixture.routes['GET /workspaces'] = () => [200, { workspaces: [] }];
      expect(await loginAs('--register')).toBe(EXIT.ok);
      expect(fixture.requests.map(({ route }) => route)).toEqual([
        'POST /auth/register',
        'GET /workspaces',
        'POST /workspaces',
      ]);
      expect(fixture.out.text).toContain('workspace "ada" (made)');
    });

    it('asks for --workspace if there are several and no terminal', async () => {
      const other = { ...WORKSPACE, id: 'w2', name: 'other' };
      fixture.routes['GET /workspaces'] = () => [200, { workspaces: [WORKSPACE, other] }];
      expect(await loginAs()).toBe(EXIT.usage);
      expect(fixture.err.text).toMatch(
        /^patchbay: Choose one with --workspace <id>\. Your workspaces: "acme" \(w1\); "other" \(w2\)\. You are logged in; /,
      );
      expect(await loginAs('--workspace', 'other')).toBe(EXIT.ok);
    });

    it('keeps the login of a new account if choosing its workspace fails', async () => {
      expect(await loginAs('--register', '--workspace', 'nobody')).toBe(EXIT.refused);
      expect(fixture.err.text).toBe(
        'patchbay: You are not a member of a workspace "nobody". Your workspaces: "acme" (w1). The account was created and you are logged in; ' +
          'run "patchbay login" without --register, with another --workspace (or PATCHBAY_WORKSPACE), or without one, to choose it.\n',
      );
      expect(await storedLogin()).toMatchObject({ email: 'ada@example.com', workspaceId: null });
    });

    it('keeps the previously chosen workspace if it cannot choose another', async () => {
      await loginAs();
      expect(await loginAs('--workspace', 'nobody')).toBe(EXIT.refused);
      expect(await storedLogin()).toMatchObject({ workspaceId: 'w1' });
    });

    it('says in one line that email or password is wrong', async () => {
      fixture.routes['POST /auth/login'] = () => [
        401,
        { error: 'Wrong email or password.', code: 'INVALID_TOKEN' },
      ];
      expect(await loginAs()).toBe(EXIT.refused);
      expect(fixture.err.text).toBe(
        'patchbay: Wrong email or password. To create an account, pass --register.\n',
      );
    });

    it('says what to do about an existing account', async () => {
      fixture.routes['POST /auth/register'] = () => [409, { error: 'There is one.', code: 'CONFLICT' }];
      expect(await loginAs('--register')).toBe(EXIT.failed);
      expect(fixture.err.text).toBe('patchbay: There is one. Log in without --register.\n');
      fixture.routes['POST /auth/register'] = () => [
        403,
        { error: 'It has its first account', code: 'FORBIDDEN' },
      ];
      expect(await loginAs('--register')).toBe(EXIT.refused);
      expect(fixture.err.text).toBe(
        'patchbay: It has its first account. With an existing account, log in without --register.\n',
      );
    });

    it('names every invalid field', async () => {
      const fields = { password: 'must have at least 12 characters' };
      fixture.routes['POST /auth/login'] = () => [
        400,
        { error: 'Invalid.', code: 'VALIDATION_ERROR', fields },
      ];
      expect(await loginAs()).toBe(EXIT.usage);
      expect(fixture.err.text).toContain('password must have at least 12 characters');
    });
  });
});
