import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { EXIT } from '../../packages/cli/src/cli-error.js';
import { HttpProxy } from '../support/http-proxy.js';
import { CLIENT, TestProcess } from '../support/processes.js';
import type { Ran } from '../support/run-command.js';
import { age, type Contents, disk, put, SyncFixture } from '../support/sync-fixture.js';
import { ToolsFixture } from '../support/tools-fixture.js';
import { waitFor } from '../support/wait-for.js';

/** Three batches of a push. */
const FILES = 1_050;

describe('a push or pull in a process of its own', () => {
  let shared: ToolsFixture;
  let setup: SyncFixture;
  let proxy: HttpProxy;
  /** No test changes it, and each has a home and a workspace of its own. */
  let folder: string;
  const processes: TestProcess[] = [];
  beforeAll(async () => {
    shared = await ToolsFixture.start();
    folder = join(await mkdtemp(join(tmpdir(), 'patchbay-interrupted-')), 'p');
    const contents: Contents = {};
    for (let n = 0; n < FILES; n += 1) contents[`part-${n % 13}/${n}.txt`] = `${n} `.repeat(50);
    await put(folder, contents);
    await age(folder);
  });
  afterAll(async () => {
    await rm(dirname(folder), { recursive: true, force: true });
    await shared.close();
  });
  beforeEach(async () => {
    setup = await SyncFixture.start(shared);
    proxy = await HttpProxy.to(shared.server.url);
    setup.url = proxy.url;
  });
  afterEach(async () => {
    await Promise.all(processes.splice(0).map((process) => process.kill()));
    await proxy.close();
    await setup.close();
  });

  /** The command in a process of its own. */
  const start = (command: string, ...args: string[]): TestProcess => {
    const process = new TestProcess(command, CLIENT, [command, ...args, ...setup.common], {});
    processes.push(process);
    return process;
  };
  /** Resolves when the n-th request of a route has been answered. */
  const answered = (route: RegExp, count: number): Promise<void> =>
    new Promise((resolve) => {
      let seen = 0;
      proxy.onAnswered = ({ route: answeredRoute }) => {
        if (route.test(answeredRoute) && ++seen === count) resolve();
      };
    });
  /** Once this resolves, the server has done with what the process had asked for. */
  const kill = async (process: TestProcess): Promise<void> => {
    await process.kill();
    await waitFor(() => proxy.underWay.size === 0, 'an answer to what was asked for', 20_000);
  };
  const sentFiles = (): number =>
    proxy
      .of('POST /files/commit')
      .reduce((sum, { body }) => sum + (JSON.parse(body.toString()) as { files: unknown[] }).files.length, 0);

  it('resumes when the connection breaks for a moment', async () => {
    proxy.onAnswered = ({ route }) => {
      if (route !== 'POST /files/commit') return;
      proxy.onAnswered = () => undefined;
      proxy.cut = 3;
    };
    const { code, out } = await setup.push(folder);
    expect([code, out]).toEqual([0, expect.stringMatching(new RegExp(`^sent 1,050 files`))]);
    const { body } = await setup.fixture.user.get<{ files: object[] }>(
      `${setup.fixture.base}/files?limit=1000`,
    );
    expect(body.files).toHaveLength(1_000);
  });

  it('blocks a second push or pull of its folder until it has ended', async () => {
    const meanwhile: Promise<Ran>[] = [];
    proxy.onAnswered = async ({ route }) => {
      if (route !== 'POST /files/commit' || meanwhile.length > 0) return;
      meanwhile.push(setup.push(folder), setup.pull(folder));
      await Promise.all(meanwhile);
    };
    const { code, out } = await setup.push(folder);
    expect([code, out]).toEqual([0, expect.stringMatching(/^sent 1,050 files/)]);
    for (const { code: refused, err } of await Promise.all(meanwhile))
      expect([refused, err]).toEqual([EXIT.replaced, expect.stringContaining(`is syncing ${folder}`)]);
  });

  it('does not resend bytes that were stored before a kill', async () => {
    const killed = start('push', folder);
    await answered(/^POST \/blobs$/, 1);
    await kill(killed);
    const before = proxy.of('POST /blobs').reduce((sum, { body }) => sum + body.length, 0);
    expect(before).toBeGreaterThan(0);
    proxy.passed.length = 0;
    expect((await setup.push(folder)).code).toBe(0);
    const after = proxy.of('POST /blobs').reduce((sum, { body }) => sum + body.length, 0);
    const all = Object.values(await disk(folder)).reduce((sum, hex) => sum + hex.length / 2 + 4, 0);
    expect(before + after).toBe(all);
  });

  it('commits only files that were not committed and recorded before a kill', async () => {
    let commits = 0;
    proxy.onAnswered = ({ route }) => {
      const isLater = route === 'POST /files/commit' && ++commits > 1;
      return isLater ? new Promise<void>(() => undefined) : undefined;
    };
    const killed = start('push', folder);
    const isNoted = async (): Promise<boolean> => commits === 3 && (await setup.remembers());
    await waitFor(isNoted, 'three commits, one of them noted', 20_000);
    await kill(killed);
    proxy.onAnswered = () => undefined;
    proxy.passed.length = 0;
    const { code, out } = await setup.push(folder);
    expect(code).toBe(0);
    expect(out).toMatch(/ unchanged\.\n$/);
    expect(sentFiles()).toBeLessThan(FILES);
    proxy.passed.length = 0;
    expect((await setup.push(folder)).out).toBe('sent 0 files (0 B), 1,050 unchanged.\n');
    expect(proxy.passed).toEqual([]);
  });

  it('reports a stop by a signal and keeps what is done', async () => {
    const stopped = start('push', folder);
    await answered(/^POST \/files\/commit$/, 1);
    stopped.signal('SIGINT');
    expect(await stopped.exited).toEqual({ code: 130, signal: null });
    expect(stopped.stderr).toContain('Interrupted. Finished work is kept');
    expect((await setup.push(folder)).code).toBe(0);
    expect((await setup.push(folder)).out).toBe('sent 0 files (0 B), 1,050 unchanged.\n');
  });

  it('resumes a pull after a kill and leaves no temporary file', async () => {
    await setup.push(folder);
    const other = join(setup.directory, 'other', 'p');
    const batches = 'POST /blobs/read';
    let answers = 0;
    // The second batch is on its way for ever, so the first one is what there is.
    proxy.onAnswered = ({ route }) => {
      const isLater = route === batches && ++answers > 1;
      return isLater ? new Promise<void>(() => undefined) : undefined;
    };
    const killed = start('pull', other);
    const some = async (): Promise<boolean> =>
      (await readdir(other, { recursive: true }).catch(() => [])).length > 50;
    await waitFor(some, 'some files', 20_000);
    await kill(killed);
    const half = await disk(other);
    expect(Object.keys(half).length).toBeLessThan(FILES);
    proxy.onAnswered = () => undefined;
    proxy.passed.length = 0;
    const { code } = await setup.pull(other);
    expect(code).toBe(0);
    expect(await disk(other)).toEqual(await disk(folder));
    const names = await readdir(other, { recursive: true });
    expect(names.filter((name) => name.endsWith('.tmp'))).toEqual([]);
    const asked = proxy.of(batches).map(({ body }) => JSON.parse(body.toString()) as { sha256s: string[] });
    expect(asked.flatMap(({ sha256s }) => sha256s).length).toBeLessThan(FILES - 20);
  });

  it('runs first in connect when told to', async () => {
    // The wire of this test is for requests only.
    setup.url = shared.server.url;
    const client = start('connect', '--root', folder, '--push', '--yes');
    await client.says(/^connected$/m, 60_000);
    expect(client.stderr).toContain('sent 1,050 files');
    expect((await setup.push(folder)).out).toBe('sent 0 files (0 B), 1,050 unchanged.\n');
  });
});
