import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EXIT } from './cli-error.js';

import { CliScene, STRANGERS, TOKEN, UNKNOWN, WORKSPACE } from './program.sample.js';

describe('patchbay', () => {
  const scene = new CliScene();
  const { patchbay, loginAs } = scene;
  beforeEach(() => scene.open());
  afterEach(() => scene.close());

  const storedLogin = async () => {
    const stored = JSON.parse(await readFile(join(scene.home, 'credentials.json'), 'utf8')) as {
      logins: Record<string, object>;
    };
    return stored.logins[scene.url];
  };

  describe('the workspace', () => {
    const other = { ...WORKSPACE, id: 'w2', name: 'other' };
    const eventsOf = (...flags: string[]) => patchbay(['audit', ...flags]);
    const lastRoute = () => scene.requests.at(-1)!.route.split('?')[0];
    beforeEach(() => {
      for (const id of ['w1', 'w2', UNKNOWN]) {
        scene.routes[`GET /workspaces/${id}/audit`] = () => [200, { events: [], nextCursor: null }];
      }
      scene.routes['GET /workspaces'] = () => [200, { workspaces: [WORKSPACE, other] }];
    });

    it('may be given by its name', async () => {
      await loginAs('--workspace', 'w1');
      expect(await eventsOf('--workspace', 'other')).toBe(EXIT.ok);
      expect(lastRoute()).toBe('GET /workspaces/w2/audit');
    });

    it('is looked up once where its id is given', async () => {
      scene.routes[`GET /workspaces/${UNKNOWN}`] = () => [200, { ...STRANGERS, id: UNKNOWN }];
      for (const sent of [2, 3]) {
        expect(await eventsOf('--token', TOKEN, '--workspace', UNKNOWN)).toBe(EXIT.ok);
        expect(scene.requests).toHaveLength(sent);
        expect(scene.err.text).toBe(`Workspace "other" (${UNKNOWN}), of bob@example.com.\n`);
      }
    });

    it.each([
      [
        'none',
        'nobody',
        EXIT.refused,
        'You are not a member of a workspace "nobody". There are: "acme" (w1); "other" (w2).',
      ],
      ['several', 'twin', EXIT.usage, 'Several workspaces have the name "twin": pass --workspace <id>.'],
    ])('is refused clearly where %s has the name', async (_what, name, exitCode, message) => {
      if (name === 'twin') {
        const twins = ['w1', 'w2'].map((id) => ({ ...WORKSPACE, id, name }));
        scene.routes['GET /workspaces'] = () => [200, { workspaces: twins }];
      }
      expect(await eventsOf('--token', TOKEN, '--workspace', name)).toBe(exitCode);
      expect(scene.err.text).toContain(message);
    });

    it('of a token is the only one that its user is a member of', async () => {
      scene.routes['GET /workspaces'] = () => [200, { workspaces: [other] }];
      expect(await eventsOf('--token', TOKEN)).toBe(EXIT.ok);
      expect(lastRoute()).toBe('GET /workspaces/w2/audit');
    });

    it('of a token has to be chosen where there are several', async () => {
      expect(await eventsOf('--token', TOKEN)).toBe(EXIT.usage);
      expect(scene.err.text).toContain(
        'Choose one with --workspace <id>. There are: "acme" (w1); "other" (w2).',
      );
    });

    it('is the only one there is after a login that chose none', async () => {
      scene.routes['GET /workspaces'] = () => [200, { workspaces: [other] }];
      await loginAs('--workspace', 'nobody');
      expect(await eventsOf()).toBe(EXIT.ok);
      expect(lastRoute()).toBe('GET /workspaces/w2/audit');
    });
  });

  describe("a stranger's workspace", () => {
    const audit = `GET /workspaces/w2/audit`;
    const eventsOf = (...flags: string[]) => patchbay(['audit', '--token', TOKEN, ...flags]);
    beforeEach(() => {
      scene.routes['GET /workspaces'] = () => [200, { workspaces: [STRANGERS] }];
      for (const id of ['w1', 'w2'])
        scene.routes[`GET /workspaces/${id}/audit`] = () => [200, { events: [], nextCursor: null }];
    });

    it.each([
      ['the only one there is', []],
      ['named by its name alone', ['--workspace', 'other']],
    ])('is not used by itself where nobody can be asked and it is %s', async (_what, flags) => {
      expect(await eventsOf(...flags)).toBe(EXIT.usage);
      expect(scene.err.text).toBe(
        'patchbay: You did not create workspace "other" (w2), of bob@example.com, and you have not chosen it here ' +
          'before. To use it, pass --workspace w2.\n',
      );
      expect(scene.requests.map(({ route }) => route)).toEqual(['GET /workspaces']);
    });

    it('is not the one that a login chooses, nor the one that a login of an older version has chosen', async () => {
      expect(await loginAs()).toBe(EXIT.usage);
      expect(await storedLogin()).toMatchObject({ workspaceId: null });
      const credentials = join(scene.home, 'credentials.json');
      const stored = await readFile(credentials, 'utf8');
      await writeFile(credentials, stored.replace('"workspaceId": null', '"workspaceId": "w2"'));
      scene.routes['GET /workspaces/w2'] = () => [200, STRANGERS];
      expect(await patchbay(['audit'])).toBe(EXIT.usage);
      expect(scene.requests.at(-1)!.route).toBe('GET /workspaces/w2');
    });

    it('does not take the place of the one that the user has made, though it has its name', async () => {
      scene.routes['GET /workspaces'] = () => [
        200,
        { workspaces: [{ ...STRANGERS, name: 'acme' }, WORKSPACE] },
      ];
      for (const flags of [[], ['--workspace', 'acme']]) {
        expect(await eventsOf(...flags)).toBe(EXIT.ok);
        expect(scene.requests.at(-1)!.route).toMatch(/^GET \/workspaces\/w1\/audit/);
      }
    });

    it('is used once the person has said so, which is remembered, and whose it is is told each time', async () => {
      expect(await patchbay(['audit', '--token', TOKEN], { stdin: 'no\n', isTTY: true })).toBe(EXIT.usage);
      expect(await patchbay(['audit', '--token', TOKEN], { stdin: 'yes\n', isTTY: true })).toBe(EXIT.ok);
      expect(scene.err.text).toContain('You did not create workspace "other" (w2), of bob@example.com.');
      scene.routes['GET /workspaces/w2'] = () => [200, STRANGERS];
      expect(await eventsOf('--workspace', 'w2')).toBe(EXIT.ok);
      expect(scene.err.text).toBe('Workspace "other" (w2), of bob@example.com.\n');
      expect(scene.requests.at(-1)!.route).toContain(audit);
    });

    it("that its maker has left to the user is still not taken for the user's own", async () => {
      const left = { ...STRANGERS, owners: WORKSPACE.owners };
      scene.routes['GET /workspaces'] = () => [200, { workspaces: [left] }];
      expect(await eventsOf()).toBe(EXIT.usage);
      expect(scene.err.text).toContain('of a former member');
    });

    it('is shown as what it is where a login has several to choose from', async () => {
      scene.routes['GET /workspaces'] = () => [200, { workspaces: [WORKSPACE, STRANGERS] }];
      const env = { PATCHBAY_PASSWORD: 'from the environment' };
      const args = ['login', '--email', 'ada@example.com'];
      expect(await patchbay(args, { stdin: '2\n', env, isTTY: true })).toBe(EXIT.ok);
      expect(scene.err.text).toContain('  1  acme, made by you\n  2  other, of bob@example.com\n');
      expect(scene.out.text).toContain('workspace "other" (w2), of bob@example.com.\n');
    });
  });

  describe('login', () => {
    it('takes the password from stdin, and keeps who is logged in where', async () => {
      expect(await loginAs()).toBe(EXIT.ok);
      expect(scene.requests[0]!.body).toEqual({
        email: 'ada@example.com',
        password: 'correct horse battery',
      });
      expect(scene.out.text).toBe(`Logged in to ${scene.url} as ada@example.com, workspace "acme" (w1).\n`);
      const stored = JSON.parse(await readFile(join(scene.home, 'credentials.json'), 'utf8')) as object;
      expect(stored).toMatchObject({ current: scene.url, logins: { [scene.url]: { workspaceId: 'w1' } } });
    });

    it('takes the password from the environment', async () => {
      const env = { PATCHBAY_PASSWORD: 'from the environment' };
      await patchbay(['login', '--email', 'ada@example.com'], { env });
      expect(scene.requests[0]!.body.password).toBe('from the environment');
    });

    it('makes the account with --register, and a workspace for who has none', async () => {
      scene.routes['GET /workspaces'] = () => [200, { workspaces: [] }];
      expect(await loginAs('--register')).toBe(EXIT.ok);
      expect(scene.requests.map(({ route }) => route)).toEqual([
        'POST /auth/register',
        'GET /workspaces',
        'POST /workspaces',
      ]);
      expect(scene.out.text).toContain('workspace "ada" (made)');
    });

    it('asks for --workspace where there are several and nobody to ask', async () => {
      const other = { ...WORKSPACE, id: 'w2', name: 'other' };
      scene.routes['GET /workspaces'] = () => [200, { workspaces: [WORKSPACE, other] }];
      expect(await loginAs()).toBe(EXIT.usage);
      expect(scene.err.text).toMatch(
        /^patchbay: Choose one with --workspace <id>\. There are: "acme" \(w1\); "other" \(w2\)\. You are logged in; /,
      );
      expect(await loginAs('--workspace', 'other')).toBe(EXIT.ok);
    });

    it('keeps the login of an account that was just made, whatever becomes of its workspace', async () => {
      expect(await loginAs('--register', '--workspace', 'nobody')).toBe(EXIT.refused);
      expect(scene.err.text).toBe(
        'patchbay: You are not a member of a workspace "nobody". There are: "acme" (w1). The account is created and you are logged in; ' +
          'run "patchbay login" without --register, with another --workspace (or PATCHBAY_WORKSPACE), or without one, to choose it.\n',
      );
      expect(await storedLogin()).toMatchObject({ email: 'ada@example.com', workspaceId: null });
    });

    it('keeps the workspace that was chosen before where it cannot choose another', async () => {
      await loginAs();
      expect(await loginAs('--workspace', 'nobody')).toBe(EXIT.refused);
      expect(await storedLogin()).toMatchObject({ workspaceId: 'w1' });
    });

    it('says in one line that email or password is wrong', async () => {
      scene.routes['POST /auth/login'] = () => [
        401,
        { error: 'Wrong email or password.', code: 'INVALID_TOKEN' },
      ];
      expect(await loginAs()).toBe(EXIT.refused);
      expect(scene.err.text).toBe(
        'patchbay: Wrong email or password. To create an account, add --register.\n',
      );
    });

    it('says what to do about an account that there is already', async () => {
      scene.routes['POST /auth/register'] = () => [409, { error: 'There is one.', code: 'CONFLICT' }];
      expect(await loginAs('--register')).toBe(EXIT.failed);
      expect(scene.err.text).toBe('patchbay: There is one. Log in without --register.\n');
      scene.routes['POST /auth/register'] = () => [
        403,
        { error: 'It has its first account', code: 'FORBIDDEN' },
      ];
      expect(await loginAs('--register')).toBe(EXIT.refused);
      expect(scene.err.text).toBe(
        'patchbay: It has its first account. If you have an account, log in without --register.\n',
      );
    });

    it('names every field that is wrong', async () => {
      const fields = { password: 'must have at least 12 characters' };
      scene.routes['POST /auth/login'] = () => [400, { error: 'Invalid.', code: 'VALIDATION_ERROR', fields }];
      expect(await loginAs()).toBe(EXIT.usage);
      expect(scene.err.text).toContain('password must have at least 12 characters');
    });
  });
});
