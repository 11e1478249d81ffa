import { execFile } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { disk } from './sync-fixture.js';
import { CLIENT, PAUSE_AT, TestProcess } from './processes.js';
import { type Ran, runCommand } from './run-command.js';
import type { TestUser } from './test-user.js';

const run = promisify(execFile);

/**
 * A machine of a user: a home, a folder `proj` unless it is called otherwise, git, and the command line: a command to its
 * end in this process, what a test may kill as a process of its own.
 */
export class Machine {
  readonly processes: TestProcess[] = [];

  constructor(
    readonly directory: string,
    readonly server: { url: string },
    readonly user: TestUser,
    readonly workspaceId: string,
    readonly folderName = 'proj',
  ) {}

  get folder(): string {
    return join(this.directory, this.folderName);
  }

  get home(): string {
    return join(this.directory, 'home');
  }

  /** A git repository with these files, committed. */
  async repository(files: Record<string, string>): Promise<void> {
    await mkdir(this.folder, { recursive: true });
    await this.git('init', '-q', '-b', 'main');
    await this.git('config', 'user.email', 'ada@example.com');
    await this.git('config', 'user.name', 'Ada');
    for (const [path, text] of Object.entries(files)) await this.write(path, text);
    await this.commit('first');
  }

  async git(...args: string[]): Promise<string> {
    return (await run('git', args, { cwd: this.folder })).stdout;
  }

  async commit(message: string): Promise<void> {
    await this.git('add', '-A');
    await this.git('commit', '-qm', message, '--allow-empty');
  }

  async write(path: string, text: string): Promise<void> {
    await mkdir(dirname(join(this.folder, path)), { recursive: true });
    await writeFile(join(this.folder, path), text);
  }

  read(path: string): Promise<string> {
    return readFile(join(this.folder, path), 'utf8');
  }

  async remove(path: string): Promise<void> {
    await rm(join(this.folder, path), { recursive: true });
  }

  /** Its text files, or those below a folder of it, by relative path; without .git and what a forced pull has put aside. */
  async files(below = ''): Promise<Record<string, string>> {
    const isOwn = (path: string): boolean =>
      !path.startsWith('.git/') && !/\.patchbay-kept(-\d+)?$/.test(path);
    const own = await disk(join(this.folder, below), isOwn);
    const texts = Object.entries(own).map(([path, hex]) => [
      join(below, path),
      Buffer.from(hex, 'hex').toString(),
    ]);
    return Object.fromEntries(texts) as Record<string, string>;
  }

  push(...flags: string[]): Promise<Ran> {
    return this.patchbay('push', this.folder, ...flags);
  }

  pull(...flags: string[]): Promise<Ran> {
    return this.patchbay('pull', this.folder, ...flags);
  }

  /** A command, to its end. */
  patchbay(...args: string[]): Promise<Ran> {
    const { server, user, workspaceId, home } = this;
    const common = ['--url', server.url, '--token', user.token, '--workspace', workspaceId, '--home', home];
    return runCommand([...args, ...common]);
  }

  /** `patchbay connect`, ready for calls. */
  connect(...flags: string[]): Promise<TestProcess> {
    return this.connectIn({}, ...flags);
  }

  /** The same, whose calls all stop for good at a step (pause-at.mjs). */
  connectPausing(pauseAt: string): Promise<TestProcess> {
    return this.connectIn({ NODE_OPTIONS: `--import ${PAUSE_AT}`, PAUSE_AT: pauseAt, PAUSE_EVERY: 'yes' });
  }

  private async connectIn(env: Record<string, string>, ...flags: string[]): Promise<TestProcess> {
    const process = this.startIn(env, 'connect', '--root', this.folder, '--yes', ...flags);
    await process.says(/^connected$/m);
    return process;
  }

  start(...args: string[]): TestProcess {
    return this.startIn({}, ...args);
  }

  /** A command as a process of its own, with more in its environment. */
  startIn(env: Record<string, string>, ...args: string[]): TestProcess {
    const process = new TestProcess(`patchbay ${args[0]}`, CLIENT, args, {
      PATCHBAY_URL: this.server.url,
      PATCHBAY_TOKEN: this.user.token,
      PATCHBAY_WORKSPACE: this.workspaceId,
      PATCHBAY_HOME: this.home,
      HOME: this.directory,
      ...env,
    });
    this.processes.push(process);
    return process;
  }

  async close(): Promise<void> {
    await Promise.all(this.processes.map((process) => process.kill()));
  }
}
