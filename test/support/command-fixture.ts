import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ClientProcess } from './processes.js';
import { RelayFixture } from './relay-fixture.js';
import { type Given, type Ran, runCommand } from './run-command.js';
import type { TestServer } from './server.js';
import { type Contents, put } from './sync-fixture.js';
import { Terminal, type TerminalOptions } from './terminal.js';

/** The command line of a user with a token, a home and folders, against a real server. */
export class CommandFixture {
  private readonly clients: ClientProcess[] = [];
  private readonly terminals: Terminal[] = [];

  private constructor(
    readonly fixture: RelayFixture,
    readonly directory: string,
  ) {}

  /** In a workspace and home of its own, on a server that tests share. */
  static async on(server: TestServer): Promise<CommandFixture> {
    const fixture = await RelayFixture.on(server, await server.register());
    return new CommandFixture(fixture, await mkdtemp(join(tmpdir(), 'patchbay-commands-')));
  }

  get home(): string {
    return join(this.directory, 'home');
  }

  async folder(name: string, contents: Contents = {}): Promise<string> {
    const folder = join(this.directory, name);
    await mkdir(folder, { recursive: true });
    await put(folder, contents);
    return folder;
  }

  /** A command with the user's token in the fixture's workspace. */
  run(command: string, ...args: string[]): Promise<Ran> {
    const { PATCHBAY_URL: url, PATCHBAY_TOKEN: token, PATCHBAY_WORKSPACE: workspace } = this.env;
    const flags = ['--url', url!, '--token', token!, '--workspace', workspace!];
    return this.bare([command, '--home', this.home, ...flags, ...args]);
  }

  /** A command line as it stands. */
  bare(args: readonly string[], given?: Given): Promise<Ran> {
    return runCommand(args, given);
  }

  /** What a process needs to be this user. */
  get env(): Record<string, string> {
    const { server, user, workspaceId } = this.fixture;
    return {
      PATCHBAY_URL: server.url,
      PATCHBAY_TOKEN: user.token,
      PATCHBAY_WORKSPACE: workspaceId,
      PATCHBAY_HOME: this.home,
    };
  }

  /** The built command at a terminal of its own. */
  terminal(args: readonly string[], options: TerminalOptions = {}): Terminal {
    const terminal = Terminal.patchbay(args, { ...options, env: { ...this.env, ...options.env } });
    this.terminals.push(terminal);
    return terminal;
  }

  /** A real client in a process of its own, which allows all calls, or with `yes: false` leaves them waiting. */
  async connect(root: string, yes = true, url = this.fixture.server.url): Promise<ClientProcess> {
    const { user, workspaceId } = this.fixture;
    const options = { name: 'client', url, token: user.token, workspaceId, root, home: this.home, yes };
    return ClientProcess.start(options, (client) => this.clients.push(client));
  }

  /** Ends what runs, then the fixture, which checks the invariants. */
  async close(): Promise<void> {
    for (const terminal of this.terminals.splice(0)) await terminal.close();
    for (const client of this.clients.splice(0)) if (client.running) await client.kill();
    await this.fixture.close();
    await rm(this.directory, { recursive: true, force: true });
  }
}
