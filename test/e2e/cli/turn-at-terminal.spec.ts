import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandDesk } from '../../support/command-desk.js';
import { createCall } from '../../support/relay-scene.js';
import { PASSWORD, startTestServer, type TestServer } from '../../support/server.js';
import { describeAtTerminal, KEYS } from '../../support/terminal.js';

const INTERRUPTED = { code: 130, signal: null };

describeAtTerminal('patchbay at a terminal', () => {
  let server: TestServer;
  let desk: CommandDesk;
  beforeAll(async () => void (server = await startTestServer()));
  beforeEach(async () => void (desk = await CommandDesk.on(server)));
  afterEach(() => desk.close());
  afterAll(() => server.close());

  it('tells what a turn waits for, whom and how long, until it has ended', async () => {
    const file = join(desk.directory, 'turn.json');
    await writeFile(file, JSON.stringify({ turnId: 't1', toolCalls: [createCall('c1', 'proj/a.txt')] }));
    const terminal = desk.terminal(['turn', file], { columns: 200 });
    await terminal.shows(
      /… c1 workspace_create_file proj\/a\.txt waits for a client \("patchbay connect"\), until \S+ \(5 min left\)/,
    );
    const folder = await desk.folder('proj');
    const asking = await desk.connect(folder, false);
    await terminal.shows(
      /… c1 .* waits for a person's decision at "patchbay connect proj", until \S+ \(15 min left\)/,
    );
    await asking.kill();
    await desk.connect(folder, true);
    await terminal.shows('✓ c1 workspace_create_file proj/a.txt');
    await terminal.shows('"kind": "final"');
    expect(await terminal.exited).toEqual({ code: 0, signal: null });
  });

  it('names the turn at Ctrl-C, how to go on and how to cancel, and both do', async () => {
    const file = join(desk.directory, 'turn.json');
    await writeFile(file, JSON.stringify([createCall('c1')]));
    const posting = desk.terminal(['turn', file], { columns: 200 });
    await posting.shows('waits for a client');
    posting.type(KEYS.ctrlC);
    await posting.shows(
      /patchbay: Interrupted\. Turn (\S+) goes on\. "patchbay turn --follow \1" waits for it, "patchbay cancel \1" ends it\./,
    );
    expect(await posting.exited).toEqual(INTERRUPTED);
    const [, turnId] = /Turn (\S+) goes on/.exec(posting.said)!;
    const following = desk.terminal(['turn', '--follow', turnId!], { columns: 200 });
    await following.shows('waits for a client');
    expect((await desk.run('cancel', turnId!)).code).toBe(0);
    await following.shows('✗ c1 workspace_create_file c1.txt cancelled');
    expect((await following.exited).code).toBe(5);
  });

  it.each([
    ['email', ['login'], 'Email: '],
    ['password', ['login', '--email', 'ada@example.com'], 'Password: '],
    ['calls', ['turn', '-'], 'Ctrl-D at its end'],
  ])('ends with 130 at Ctrl-C where it asks for the %s', async (_what, args, question) => {
    const terminal = desk.terminal(args);
    await terminal.shows(question);
    terminal.type(KEYS.ctrlC);
    expect(await terminal.exited).toEqual(INTERRUPTED);
  });

  it('asks which workspace after a login, where Ctrl-C keeps the login', async () => {
    await desk.scene.user.createWorkspace('Second');
    const env = { PATCHBAY_TOKEN: '', PATCHBAY_WORKSPACE: '', PATCHBAY_PASSWORD: PASSWORD };
    const login = desk.terminal(['login', '--email', desk.scene.user.email], { env });
    await login.shows('Workspace [1-2]: ');
    login.type(KEYS.ctrlC);
    expect(await login.exited).toEqual(INTERRUPTED);
    const list = desk.terminal(['workspaces'], { env });
    await list.shows('Second');
    expect((await list.exited).code).toBe(0);
  });
});
