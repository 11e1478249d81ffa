import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandFixture } from '../../support/command-fixture.js';
import { suiteFixture, testFixture } from '../../support/fixtures.js';
import { PASSWORD, startTestServer } from '../../support/server.js';
import type { Ran } from '../../support/run-command.js';

describe('patchbay commands for logins:', () => {
  const server = suiteFixture(() => startTestServer());
  const setup = testFixture(() => CommandFixture.on(server));

  const run = (...args: string[]): Promise<Ran> => {
    const [command, ...rest] = args;
    const at = ['--home', setup.home, '--url', server.url];
    return setup.bare([command!, ...at, ...rest], { env: { PATCHBAY_PASSWORD: PASSWORD } });
  };
  const login = () => run('login', '--email', setup.fixture.user.email);
  const stored = async () =>
    JSON.parse(await readFile(join(setup.home, 'credentials.json'), 'utf8')) as {
      current: string | null;
      logins: Record<string, { tokens: { refreshToken: string }; workspaceId: string }>;
    };

  it('logout revokes the refresh token and removes the stored login', async () => {
    const { user } = setup.fixture;
    await login();
    const { refreshToken } = (await stored()).logins[server.url]!.tokens;
    const { code, out } = await run('logout');
    expect([code, out]).toEqual([0, `${user.email} is logged out of ${server.url}.\n`]);
    expect(await stored()).toEqual({ current: null, logins: {} });
    expect((await server.request('POST', '/auth/refresh', { refreshToken })).status).toBe(401);
    expect(await run('logout')).toEqual({ code: 0, out: `There is no login to ${server.url}.\n`, err: '' });
    expect((await run('status')).code).toBe(3);
  });

  it('does not log out without the server, unless told to forget the login locally', async () => {
    const { url } = server;
    await login();
    const nowhere = 'http://127.0.0.1:9';
    const content = await stored();
    const moved = { current: nowhere, logins: { [nowhere]: content.logins[url]! } };
    await writeFile(join(setup.home, 'credentials.json'), JSON.stringify(moved));
    const refused = await run('logout', '--url', nowhere);
    expect([refused.code, refused.err]).toEqual([
      4,
      expect.stringContaining('--local forgets the login here'),
    ]);
    expect((await stored()).logins[nowhere]).toBeDefined();
    const local = await run('logout', '--url', nowhere, '--local');
    expect([local.code, local.out]).toEqual([0, expect.stringContaining('stays valid at the server')]);
    expect((await stored()).logins).toEqual({});
  });

  it('lists the workspaces and stores the chosen one for other commands', async () => {
    const { user, workspaceId } = setup.fixture;
    await run('login', '--email', user.email, '--workspace', workspaceId);
    const { id } = await user.createWorkspace('Second');
    expect((await run('workspaces')).out).toBe(
      `* Workspace  ${workspaceId}  owner  yours\n  Second     ${id}  owner  yours\n`,
    );
    const chosen = await run('workspaces', 'Second');
    expect([chosen.code, chosen.out]).toEqual([0, `Commands now use workspace "Second" (${id}).\n`]);
    expect((await stored()).logins[server.url]).toMatchObject({ workspaceId: id });
    expect((await run('status')).out).toContain(`Workspace  "Second" (${id}), yours\n`);
    const { workspaces } = JSON.parse((await run('workspaces', '--json')).out) as {
      workspaces: { id: string; isCurrent: boolean }[];
    };
    expect(workspaces.map((one) => [one.id, one.isCurrent])).toEqual([
      [workspaceId, false],
      [id, true],
    ]);
    expect((await run('workspaces', 'Third')).code).toBe(3);
  });
});
