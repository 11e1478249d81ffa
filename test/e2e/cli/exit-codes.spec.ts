import { spawnSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandFixture } from '../../support/command-fixture.js';
import { CLIENT, freePort } from '../../support/processes.js';
import { startTestServer, type TestServer } from '../../support/server.js';

/** Every command that talks to a server, with what it cannot do without. */
const COMMANDS: [name: string, args: string[]][] = [
  ['workspaces', []],
  ['status', []],
  ['connect', []],
  ['push', []],
  ['pull', []],
  ['turn', ['-']],
  ['turn', ['--follow', 't1']],
  ['cancel', ['t1']],
  ['revert', ['01a204f9-26f2-7720-9f7b-d60383c1e403']],
  ['approvals', []],
  ['audit', []],
];
const TURN = '[{"toolCallId":"c1","name":"ls","arguments":{}}]';

describe('The exit code', () => {
  let server: TestServer;
  let setup: CommandFixture;
  beforeAll(async () => {
    server = await startTestServer();
    setup = await CommandFixture.on(server);
  });
  afterAll(async () => {
    await setup.close();
    await server.close();
  });
  const at = (url: string, home = join(setup.directory, 'nobody')) => ['--home', home, '--url', url];

  it.each(COMMANDS)('of %s %j is 3 without a login, with what to do', async (name, args) => {
    const { code, err } = await setup.bare([name, ...at(server.url), ...args], { stdin: TURN });
    expect([code, err]).toEqual([
      3,
      `patchbay: Not logged in to ${server.url}: run "patchbay login", or pass an access token (--token, PATCHBAY_TOKEN).\n`,
    ]);
  });

  it.each(COMMANDS)('of %s %j is 3 for a workspace of others', async (name, args) => {
    const { token } = await server.register();
    const { PATCHBAY_WORKSPACE: id } = setup.env;
    const flags = [...at(server.url), '--token', token, '--workspace', id!];
    const { code, err } = await setup.bare([name, ...flags, ...args], { stdin: TURN });
    // Those that one has are listed, whichever is named.
    if (name === 'workspaces') expect(code).toBe(0);
    else
      expect([code, err]).toEqual([3, expect.stringContaining('Ask an owner of the workspace to add you')]);
  });

  it.each([['login', ['--email', 'a@example.com']], ...COMMANDS] as typeof COMMANDS)(
    'of %s %j is 2 for an unknown option, an invalid URL and a surplus argument',
    async (name, args) => {
      for (const wrong of [['--bogus'], ['--url', 'localhost'], ['--url', 'http://h/?x=1']]) {
        expect((await setup.bare([name, ...at(server.url), ...wrong, ...args], { stdin: TURN })).code).toBe(
          2,
        );
      }
      expect((await setup.bare([name, ...at(server.url), ...args, 'one', 'two', 'three'])).code).toBe(2);
    },
  );

  it.each([
    ['connect', ['--root', 'nowhere']],
    ['connect', ['--root', 'a-file']],
    ['push', ['nowhere']],
    ['push', ['a-file']],
    ['pull', ['a-file']],
    ['status', ['nowhere']],
    ['turn', ['nowhere']],
    ['turn', []],
    ['completion', ['tcsh']],
  ])('of %s %j is 2', async (name, [...args]) => {
    await writeFile(join(setup.directory, 'a-file'), '');
    const words = args.map((arg) => (/^no|^a-/.test(arg) ? join(setup.directory, arg) : arg));
    const { code, err } =
      name === 'completion' ? await setup.bare([name, ...args]) : await setup.run(name, ...words);
    expect([code, err]).toEqual([
      2,
      expect.stringMatching(/does not exist|is not a folder|Cannot read|Pass|Allowed/),
    ]);
  });

  it.each([
    [
      ['--event', 'Tool.CreateFile.Fowarded'],
      /^patchbay: event is not .*did you mean Tool\.CreateFile\.Forwarded\?/,
    ],
    [
      ['--event', 'Nope', '--csv'],
      /^patchbay: event is not the name of an event; there are Turn\.Accepted, /,
    ],
    [['--error-code', 'Nope', '--json'], /^patchbay: errorCode is not a known code, .*known: UNKNOWN_TOOL, /],
  ])('of audit %j is 2, with the valid values', async (flags, said) => {
    const { code, out, err } = await setup.run('audit', ...flags);
    expect([code, out, err]).toEqual([2, '', expect.stringMatching(said)]);
  });

  it('is 4 where no server answers', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const { code, err } = await setup.bare(['login', ...at(url), '--email', 'a@example.com'], {
      stdin: 'password',
    });
    expect([code, err]).toEqual([
      4,
      `patchbay: No answer from ${url}: connect ECONNREFUSED ${url.slice(7)}. Is the server running there, and --url right?\n`,
    ]);
  });

  it('is 8 when a pull could not write every file, with the file named', async () => {
    await setup.run('push', await setup.folder('proj', { a: 'a\n', b: 'b\n' }));
    const other = await setup.folder('elsewhere/proj');
    await mkdir(join(other, 'b'));
    const { code, out } = await setup.run('pull', other);
    expect([code, out]).toEqual([8, expect.stringContaining('failed 1:\n  b: "b" is a folder.\n')]);
  });

  it('is 8 when a pull cannot create its folder', async () => {
    await writeFile(join(setup.directory, 'a-file'), '');
    const folder = join(setup.directory, 'a-file', 'below');
    const { code, err } = await setup.run('pull', folder);
    expect([code, err]).toEqual([
      8,
      `patchbay: Cannot make the folder ${folder}: a part of its path is a file, not a folder (ENOTDIR).\n`,
    ]);
  });

  it('is 1 when a stored file cannot be opened, with the file named', async () => {
    await setup.run('push', await setup.folder('p', { a: 'a\n' }));
    const home = join(setup.directory, 'broken');
    await mkdir(home);
    await writeFile(join(home, 'sync'), '');
    await writeFile(join(home, 'clients'), '');
    for (const command of [
      ['push', join(setup.directory, 'p')],
      ['connect', '--root', join(setup.directory, 'p')],
    ]) {
      const { code, err } = await setup.run(command[0]!, '--home', home, ...command.slice(1));
      expect([code, err]).toEqual([
        1,
        expect.stringMatching(
          /^patchbay: Cannot make the folder \S+broken\/(sync|clients)\S*: a part of its path/,
        ),
      ]);
    }
  });

  it('is 130 for a client that Ctrl-C ends', async () => {
    const client = await setup.connect(await setup.folder('interrupted'), false);
    client.signal('SIGINT');
    expect(await client.exited).toEqual({ code: 130, signal: null });
  });

  it('is one that the help lists, and docs/terminal.md lists every command', async () => {
    const { stdout } = spawnSync(process.execPath, [CLIENT, '--help'], { encoding: 'utf8' });
    const page = await readFile(join(import.meta.dirname, '../../../docs/terminal.md'), 'utf8');
    const commands = stdout.match(/^ {2}[a-z]+(?= )/gm)!.map((name) => name.trim());
    expect(commands.filter((name) => name !== 'help' && !page.includes(`\`${name}`))).toEqual([]);
    const [, list] = /Exit codes: ([^]*)\.\n$/.exec(stdout)!;
    expect(list!.match(/\d+(?= [a-z])/g)!.map(Number)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 130]);
  });
});
