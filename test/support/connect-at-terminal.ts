import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sha256 } from '@patchbay/protocol/hash';
import type { ToolResult } from '@patchbay/protocol';
import { RelayFixture } from './relay-fixture.js';
import { startTestServer, type TestServer } from './server.js';
import { Terminal, type TerminalOptions } from './terminal.js';
import { waitFor } from './wait-for.js';

/** Lines of one word each. */
export const LINES = 'one\ntwo\nthree\nfour\nfive\n';

export interface FixtureOptions extends Omit<TerminalOptions, 'cwd'> {
  /** Where the client finds the server; another wire than its own. */
  url?: string;
}

/** A person at a terminal with `patchbay connect` in a folder `proj`, and a model whose calls they decide. */
export class ConnectAtTerminal {
  server!: TestServer;
  fixture!: RelayFixture;
  terminal!: Terminal;
  private directory!: string;
  private readonly terminals: Terminal[] = [];

  /** One server for all tests of a `describe`; each test has a workspace and a folder of its own. */
  static forEachTest(): ConnectAtTerminal {
    const fixture = new ConnectAtTerminal();
    beforeAll(() => fixture.start());
    afterAll(() => fixture.close());
    beforeEach(() => fixture.open());
    afterEach(() => fixture.leave());
    return fixture;
  }

  async start(): Promise<void> {
    this.server = await startTestServer();
  }

  /** A workspace and a folder of its own, for the next test. */
  async open(): Promise<void> {
    this.fixture = await RelayFixture.on(this.server, await this.server.register());
    // A path as short as this wraps no line that shows it, whatever TMPDIR is.
    this.directory = await mkdtemp('/tmp/patchbay-at-terminal-');
    await mkdir(this.folder);
  }

  async leave(): Promise<void> {
    for (const terminal of this.terminals.splice(0)) await terminal.close();
    await rm(this.directory, { recursive: true });
  }

  close(): Promise<void> {
    return this.server.close();
  }

  get folder(): string {
    return join(this.directory, 'proj');
  }

  get home(): string {
    return join(this.directory, 'home');
  }

  async write(path: string, text: string): Promise<void> {
    await mkdir(dirname(join(this.folder, path)), { recursive: true });
    await writeFile(join(this.folder, path), text);
  }

  read(path: string): Promise<string> {
    return readFile(join(this.folder, path), 'utf8');
  }

  /** An executable of the person's, such as an editor, as a shell script; its path. */
  async program(name: string, script: string): Promise<string> {
    const path = join(this.directory, name);
    await writeFile(path, `#!/bin/sh\n${script}\n`);
    await chmod(path, 0o700);
    return path;
  }

  /** `patchbay connect` in the folder, ready for calls. */
  async connect(
    flags: readonly string[] = [],
    { url, env, ...size }: FixtureOptions = {},
  ): Promise<Terminal> {
    this.begin(flags, { ...(url !== undefined && { url }), ...(env && { env }), ...size });
    await this.terminal.shows(/^connected$/m);
    return this.terminal;
  }

  /** The same, right from its start. */
  begin(flags: readonly string[] = [], { url, env, ...size }: FixtureOptions = {}): Terminal {
    const { server, fixture } = this;
    this.terminal = Terminal.patchbay(['connect', '--no-watch', ...flags], {
      ...size,
      cwd: this.folder,
      env: {
        PATCHBAY_URL: url ?? server.url,
        PATCHBAY_TOKEN: fixture.user.token,
        PATCHBAY_WORKSPACE: fixture.workspaceId,
        PATCHBAY_HOME: this.home,
        HOME: this.directory,
        TMPDIR: this.directory,
        ...env,
      },
    });
    this.terminals.push(this.terminal);
    return this.terminal;
  }

  /** The model wants to make a file; the turnId. */
  create(path: string, content: string, more: Record<string, unknown> = {}): Promise<string> {
    return this.call('workspace_create_file', { path, content, ...more });
  }

  /** The model wants to patch files that have `LINES`, or another text. */
  patch(
    files: { path: string; changes: object[]; label?: string; text?: string }[],
    batchLabel?: string,
  ): Promise<string> {
    return this.call('workspace_write_patch', {
      ...(batchLabel !== undefined && { batchLabel }),
      files: files.map(({ path, changes, label, text = LINES }) => ({
        docPath: `proj/${path}`.toLowerCase(),
        originalSha256: sha256(text),
        ...(label !== undefined && { fileLabel: label }),
        changes,
      })),
    });
  }

  async call(name: string, args: object): Promise<string> {
    const { body, status } = await this.fixture.post([{ toolCallId: 'c1', name, arguments: args }]);
    if (status >= 300) throw new Error(JSON.stringify(body));
    return body.result.turnId;
  }

  /** What the model is told in the end. */
  async outcome(turnId: string): Promise<ToolResult> {
    let ended: ToolResult | undefined;
    await waitFor(async () => {
      const { result } = (await this.fixture.get(turnId, 1_000)).body;
      return (ended = result.toolResults[0]) !== undefined;
    }, 'the call to end');
    return ended!;
  }
}

/** A change of `LINES`. */
export function replaceLine(line: number, ...newLines: string[]): object {
  const word = LINES.split('\n')[line - 1]!;
  return {
    ...{ operation: 'replace', startLine: line, endLine: line, expectedOriginalLines: [word], newLines },
    description: `Say ${word} otherwise`,
  };
}
