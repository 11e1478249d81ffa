import { userInfo } from 'node:os';
import { CommandFixture } from '../../support/command-fixture.js';
import { suiteFixture, testFixture } from '../../support/fixtures.js';
import { startTestServer } from '../../support/server.js';
import { ShiftedClock } from '../../support/shifted-clock.js';
import { waitFor } from '../../support/wait-for.js';

describe('A token that is passed to patchbay', () => {
  const clock = new ShiftedClock();
  const server = suiteFixture(() => startTestServer({ clock }));
  const setup = testFixture(() => CommandFixture.on(server));

  it('reports the user of the token, not of the machine', async () => {
    const { email, id } = setup.fixture.user;
    const { out } = await setup.run('status');
    expect(out).toContain(`Server     ${server.url}, as ${email}\n`);
    const { user } = JSON.parse((await setup.run('status', '--json')).out) as { user: unknown };
    expect(user).toEqual({ id, email });
    const client = await setup.connect(await setup.folder('proj'));
    await waitFor(() => client.stderr.includes(`, as ${email}.`), 'the client to say who it is');
    expect(client.stderr).not.toContain(`, as ${userInfo().username}.`);
  });

  it('is rejected with the reason by every command', async () => {
    const { token } = setup.fixture.user;
    const commands = [['status'], ['audit'], ['workspaces'], ['push', await setup.folder('proj')]];
    const outputOf = async (passed: string) => {
      const flags = ['--home', setup.home, '--url', server.url, '--workspace', setup.fixture.workspaceId];
      const runs = await Promise.all(
        commands.map(([name, ...args]) => setup.bare([name!, ...flags, '--token', passed, ...args])),
      );
      expect(runs.map(({ code }) => code)).toEqual(commands.map(() => 3));
      return [...new Set(runs.map(({ err }) => err))];
    };
    const advice = 'Run "patchbay login", or pass another access token (--token, PATCHBAY_TOKEN).';
    const malformed = `patchbay: The access token is not from this server: it is truncated, misspelt or another server's. ${advice}\n`;
    expect(await outputOf('nonsense')).toEqual([malformed]);
    expect(await outputOf(`${token.slice(0, -4)}AAAA`)).toEqual([malformed]);
    clock.pass(16 * 60_000);
    expect(await outputOf(token)).toEqual([`patchbay: The access token has expired. ${advice}\n`]);
    clock.aheadMs = 0;
  });
});
