import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Ran, runCommand } from './run-command.js';
import type { ToolsFixture } from './tools-fixture.js';

/** Files of a folder, by relative path. */
export type Contents = Record<string, string | Buffer>;

/** The command line, in a fixture of its own: one home, as many folders as a test likes. */
export class SyncFixture {
  /** Where commands find the server; by default where it is. */
  url: string | null = null;

  private constructor(
    readonly fixture: ToolsFixture,
    readonly directory: string,
  ) {}

  static async start(shared: ToolsFixture): Promise<SyncFixture> {
    return new SyncFixture(await shared.elsewhere(), await mkdtemp(join(tmpdir(), 'patchbay-sync-')));
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

  push(folder: string, ...flags: string[]): Promise<Ran> {
    return this.run('push', folder, ...flags);
  }

  pull(folder: string, ...flags: string[]): Promise<Ran> {
    return this.run('pull', folder, ...flags);
  }

  /** Flags that every command needs. */
  get common(): string[] {
    const { server, user, workspaceId } = this.fixture;
    const at = ['--url', this.url ?? server.url, '--token', user.token, '--workspace', workspaceId];
    return [...at, '--home', this.home];
  }

  run(command: string, ...args: string[]): Promise<Ran> {
    return runCommand([command, ...this.common, ...args]);
  }

  /** Whether a push or pull has noted something of a folder. */
  async remembers(): Promise<boolean> {
    const files = await readdir(join(this.home, 'sync'), { recursive: true }).catch(() => []);
    const states = files
      .filter((file) => file.endsWith('state'))
      .map((file) => join(this.home, 'sync', file));
    const sizes = await Promise.all(states.map(async (file) => (await stat(file)).size));
    return sizes.some((size) => size > 0);
  }

  /** Every file that the Cloud has, with its text. */
  async cloud(): Promise<Contents> {
    const contents: Contents = {};
    const { body } = await this.fixture.user.get<{ files: { path: string }[] }>(
      `${this.fixture.base}/files?limit=1000`,
    );
    for (const { path } of body.files) {
      contents[path] = (await this.fixture.raw('GET', `/contents${encodeURI(path)}`)).body.toString();
    }
    return contents;
  }

  close(): Promise<void> {
    return rm(this.directory, { recursive: true, force: true });
  }
}

/** Writes files into a folder. */
export async function put(folder: string, contents: Contents): Promise<void> {
  for (const [path, content] of Object.entries(contents)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
}

/** Every file below a folder, as bytes in hex, so that a difference of one byte shows. */
export async function disk(
  folder: string,
  isWanted: (path: string) => boolean = () => true,
): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    const path = file.slice(folder.length + 1);
    // Of what goes meanwhile, nothing is there.
    const bytes = isWanted(path) ? await readFile(file).catch(ifThere) : null;
    if (bytes) found[path] = bytes.toString('hex');
  }
  return found;
}

function ifThere(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

/** As if the files had been there for a minute: what was just written is read again, to be on the safe side. */
export async function age(folder: string): Promise<void> {
  const then = new Date(Date.now() - 60_000);
  for (const path of Object.keys(await disk(folder))) await utimes(join(folder, path), then, then);
}
