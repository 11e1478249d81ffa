import type { CloudFilePage } from '@patchbay/protocol';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newDataDirectory } from './data-directory.js';
import { Machine } from './folder-machine.js';
import { Model } from './folder-model.js';
import { HttpProxy } from './http-proxy.js';
import { freePort, ServerProcess } from './processes.js';
import { TestServer } from './server.js';
import { registerUser, type TestUser } from './test-user.js';
import { waitFor } from './wait-for.js';

/** A server, and who works with it: people at machines, models in sessions. */
export class FolderFixture {
  private readonly machines: Machine[] = [];
  user!: TestUser;
  workspaceId!: string;

  private constructor(
    private readonly directory: string,
    private server: TestServer | ServerProcess,
  ) {}

  static async start(): Promise<FolderFixture> {
    return FolderFixture.on(await TestServer.start());
  }

  /** With the built server, in a process of its own, which a test may kill. */
  static async startApart(): Promise<FolderFixture> {
    return FolderFixture.on(await ServerProcess.start(await newDataDirectory(), await freePort()));
  }

  private static async on(server: TestServer | ServerProcess): Promise<FolderFixture> {
    const fixture = new FolderFixture(await mkdtemp(join(tmpdir(), 'patchbay-folder-')), server);
    fixture.user = await registerUser(server);
    await fixture.begin();
    return fixture;
  }

  /** A workspace of its own, for the next test. */
  async begin(): Promise<void> {
    await this.leave();
    this.workspaceId = (await this.user.createWorkspace()).id;
  }

  /** A machine in a workspace of its own, for the next test, whose folder is a repository with these files. */
  async laptop(files: Record<string, string>): Promise<Machine> {
    await this.begin();
    const laptop = this.machine();
    await laptop.repository(files);
    return laptop;
  }

  /** A machine of the user, with a wire to the server; the same name is the same machine within a test. */
  machine(name = 'laptop', folderName = 'proj', wire: { url: string } = this.server): Machine {
    const directory = join(this.directory, `${this.workspaceId}-${name}`);
    const machine = new Machine(directory, wire, this.user, this.workspaceId, folderName);
    this.machines.push(machine);
    return machine;
  }

  /** A wire to the server, to be watched. */
  wire(): Promise<HttpProxy> {
    return HttpProxy.to(this.server.url);
  }

  model(): Model {
    return new Model(this.user, this.workspaceId);
  }

  /** Every text that the Cloud has below a folder, by relative path. */
  async cloud(folderName = 'proj'): Promise<Record<string, string>> {
    const { body } = await this.user.get<CloudFilePage>(
      `/workspaces/${this.workspaceId}/files?prefix=${folderName}/&limit=1000`,
    );
    const texts: Record<string, string> = {};
    for (const { path } of body.files) {
      const text = await this.contents(path);
      // What a client deletes meanwhile is not there.
      if (text !== null) texts[path.slice(folderName.length + 2)] = text;
    }
    return texts;
  }

  /** The text of a file's head; null where there is none. */
  async contents(path: string): Promise<string | null> {
    const at = path.split('/').map(encodeURIComponent).join('/');
    const { status, body } = await this.user.get<unknown>(`/workspaces/${this.workspaceId}/contents${at}`);
    if (status === 404) return null;
    expect(status).toBe(200);
    return typeof body === 'string' ? body : JSON.stringify(body);
  }

  /** Waits until a file's head has this text. */
  async sent(path: string, text: string): Promise<void> {
    await waitFor(async () => (await this.contents(path)) === text, `${path} to be sent`);
  }

  /** Every text that any version of any file has, deleted ones included: what nobody can say was lost. */
  async versions(prefix = ''): Promise<string[]> {
    const base = `/workspaces/${this.workspaceId}`;
    const texts: string[] = [];
    for (const deleted of [false, true]) {
      const { body } = await this.user.get<CloudFilePage>(
        `${base}/files?deleted=${deleted}&limit=1000&prefix=${prefix}`,
      );
      for (const { fileId } of body.files) {
        const list = await this.user.get<{ versions: { versionId: string }[] }>(
          `${base}/files/${fileId}/versions`,
        );
        for (const { versionId } of list.body.versions) {
          const content = `${base}/files/${fileId}/versions/${versionId}/content`;
          texts.push(String((await this.user.get<unknown>(content)).body));
        }
      }
    }
    return texts;
  }

  /** Waits until the folder and the Cloud hold the same. */
  async agree(machine: Machine, timeoutMs = 10_000): Promise<void> {
    let seen = '';
    const same = async (): Promise<boolean> => {
      const [here, there] = [await machine.files(), await this.cloud(machine.folderName)];
      seen = JSON.stringify({ here, there });
      return JSON.stringify(sorted(here)) === JSON.stringify(sorted(there));
    };
    await waitFor(same, 'the folder and the Cloud to agree', timeoutMs).catch((error: unknown) => {
      throw new Error(`${String(error)}: ${seen}\n${machine.processes.map(({ log }) => log).join('\n')}`);
    });
  }

  /** kill -9 of the server; gives what starts a new process over what it left. */
  async away(): Promise<() => Promise<void>> {
    const { server } = this;
    if (server instanceof TestServer)
      throw new Error('The server of this fixture is the test itself: use startApart.');
    await server.kill();
    return async () => void (this.server = await server.startAgain());
  }

  private async leave(): Promise<void> {
    for (const machine of this.machines.splice(0)) await machine.close();
  }

  async close(): Promise<void> {
    await this.leave();
    await (this.server instanceof TestServer ? this.server.close() : this.server.kill());
    for (const path of [this.directory, this.server.dataDir])
      await rm(path, { recursive: true, force: true });
  }
}

function sorted(files: Record<string, string>): [string, string][] {
  return Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1));
}
