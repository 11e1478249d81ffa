import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { OpenTurnPage } from '@patchbay/protocol';
import { CommandFixture } from '../../support/command-fixture.js';
import { suiteFixture, testFixture } from '../../support/fixtures.js';
import { RelayProxy } from '../../support/relay-proxy.js';
import { createCall } from '../../support/relay-fixture.js';
import { PASSWORD, startTestServer } from '../../support/server.js';
import { describeAtTerminal, KEYS } from '../../support/terminal.js';
import { waitFor } from '../../support/wait-for.js';

async function openTurns({ fixture }: CommandFixture): Promise<number> {
  const { body } = await fixture.user.get<OpenTurnPage>(`/workspaces/${fixture.workspaceId}/turns`);
  return body.turns.length;
}

const INTERRUPTED = { code: 130, signal: null };

describeAtTerminal('patchbay at a terminal', () => {
  const server = suiteFixture(() => startTestServer());
  const setup = testFixture(() => CommandFixture.on(server));

  it('reports what a turn waits for, for whom and how long, until it has ended', async () => {
    const file = join(setup.directory, 'turn.json');
    await writeFile(file, JSON.stringify({ turnId: 't1', toolCalls: [createCall('c1', 'proj/a.txt')] }));
    const terminal = setup.terminal(['turn', file], { columns: 200 });
    await terminal.shows(
      /… c1 workspace_create_file proj\/a\.txt waits for a client \("patchbay connect"\), until \S+ \(5 min left\)/,
    );
    const folder = await setup.folder('proj');
    const asking = await setup.connect(folder, false);
    await terminal.shows(
      /… c1 .* waits for a person's decision at "patchbay connect proj", until \S+ \(15 min left\)/,
    );
    await asking.kill();
    await setup.connect(folder, true);
    await terminal.shows('✓ c1 workspace_create_file proj/a.txt');
    await terminal.shows('"kind": "final"');
    expect(await terminal.exited).toEqual({ code: 0, signal: null });
  });

  it('at Ctrl-C names the turn and how to follow and cancel it, and both work', async () => {
    const file = join(setup.directory, 'turn.json');
    await writeFile(file, JSON.stringify([createCall('c1')]));
    const posting = setup.terminal(['turn', file], { columns: 300 });
    await posting.shows('waits for a client');
    posting.type(KEYS.ctrlC);
    await posting.shows(
      /patchbay: Interrupted\. Turn (\S+) continues\. "patchbay turn --follow \1" waits for it, "patchbay cancel \1" ends it\./,
    );
    expect(await posting.exited).toEqual(INTERRUPTED);
    const [, turnId] = /Turn (\S+) continues/.exec(posting.said)!;
    const following = setup.terminal(['turn', '--follow', turnId!], { columns: 200 });
    await following.shows('waits for a client');
    expect((await setup.run('cancel', turnId!)).code).toBe(0);
    await following.shows('✗ c1 workspace_create_file c1.txt cancelled');
    expect((await following.exited).code).toBe(5);
  });

  it('waits on when the server is lost, and names the turn once', async () => {
    const line = await RelayProxy.to(Number(new URL(server.url).port));
    const file = join(setup.directory, 'turn.json');
    await writeFile(file, JSON.stringify([createCall('c1', 'proj/a.txt')]));
    const terminal = setup.terminal(['turn', file], { columns: 200, env: { PATCHBAY_URL: line.url } });
    await terminal.shows('waits for a client');
    line.cut();
    const away = /No answer from .*Trying again; turn \S+ is not lost\. Ctrl-C ends the wait, not the turn\./;
    await terminal.shows(away);
    await setup.connect(await setup.folder('proj'));
    await waitFor(async () => (await openTurns(setup)) === 0, 'the turn to end meanwhile');
    line.mend();
    await terminal.shows('The server answers again.');
    await terminal.shows('✓ c1 workspace_create_file proj/a.txt');
    expect((await terminal.exited).code).toBe(0);
    expect(terminal.raw.match(/is not lost/g)).toHaveLength(1);
    line.close();
  });

  it('waits at most --wait for a lost server and prints the last state of the turn', async () => {
    const line = await RelayProxy.to(Number(new URL(server.url).port));
    const file = join(setup.directory, 'turn.json');
    await writeFile(file, JSON.stringify({ turnId: 't-away', toolCalls: [createCall('c1')] }));
    const env = { PATCHBAY_URL: line.url };
    const terminal = setup.terminal(['turn', file, '--wait', '6000'], { columns: 200, env });
    await terminal.shows('waits for a client');
    line.cut();
    await terminal.shows('turn t-away is not lost');
    await terminal.shows('Turn t-away is still open. "patchbay turn --follow t-away" waits for it');
    expect((await terminal.exited).code).toBe(6);
    line.close();
  });

  it('names the turn when it is unknown whether an unreachable server has it', async () => {
    const line = await RelayProxy.to(Number(new URL(server.url).port));
    const file = join(setup.directory, 'turn.json');
    await writeFile(file, JSON.stringify({ turnId: 't-lost', toolCalls: [createCall('c1')] }));
    const env = { PATCHBAY_URL: line.url };
    // The workspace is known from then on.
    await setup.terminal(['audit'], { env }).exited;
    line.close();
    const { sessionId } = setup.fixture.session;
    const terminal = setup.terminal(['turn', file, '--session', sessionId], { columns: 300, env });
    await terminal.shows('Turn t-lost may have been accepted. "patchbay turn --follow t-lost" waits for it');
    expect((await terminal.exited).code).toBe(4);
  });

  it.each([
    ['email', ['login'], 'Email: '],
    ['password', ['login', '--email', 'ada@example.com'], 'Password: '],
    ['calls', ['turn', '-'], 'then press Ctrl-D'],
  ])('exits with 130 at Ctrl-C while it asks for the %s', async (_what, args, question) => {
    const terminal = setup.terminal(args);
    await terminal.shows(question);
    terminal.type(KEYS.ctrlC);
    expect(await terminal.exited).toEqual(INTERRUPTED);
  });

  it('asks for a workspace after a login; Ctrl-C keeps the login', async () => {
    await setup.fixture.user.createWorkspace('Second');
    const env = { PATCHBAY_TOKEN: '', PATCHBAY_WORKSPACE: '', PATCHBAY_PASSWORD: PASSWORD };
    const login = setup.terminal(['login', '--email', setup.fixture.user.email], { env });
    await login.shows('Workspace [1-2]: ');
    login.type(KEYS.ctrlC);
    expect(await login.exited).toEqual(INTERRUPTED);
    const list = setup.terminal(['workspaces'], { env });
    await list.shows('Second');
    expect((await list.exited).code).toBe(0);
  });
});
