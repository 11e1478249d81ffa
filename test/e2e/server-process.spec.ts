import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

/** The built server as whoever runs it meets it: a process, its streams and its exit code. */
class ServerProcess {
  stdout = '';
  stderr = '';
  private readonly exited: Promise<number | null>;

  private constructor(readonly child: ChildProcess) {
    child.stdout!.setEncoding('utf8').on('data', (text: string) => (this.stdout += text));
    child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    this.exited = once(child, 'close').then(([code]) => code as number | null);
  }

  static run(env: Record<string, string>): ServerProcess {
    const base = { PATH: process.env.PATH ?? '', PORT: '0' };
    return new ServerProcess(spawn(process.execPath, [MAIN], { env: { ...base, ...env } }));
  }

  /** The URL that it says it listens on. */
  async url(): Promise<string> {
    for (;;) {
      const [, url] = /Listening on (http:\/\/[^\s"]+)/.exec(this.stdout) ?? [];
      if (url !== undefined) return url;
      const code = await Promise.race([
        this.exited,
        new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), 20)),
      ]);
      if (code !== undefined) throw new Error(`the server exited with ${code}: ${this.stderr}`);
    }
  }

  exit(): Promise<number | null> {
    return this.exited;
  }
}

describe('the server process', () => {
  let dataDir: string;
  const processes: ServerProcess[] = [];

  const run = (env: Record<string, string> = {}): ServerProcess => {
    const server = ServerProcess.run({ PATCHBAY_DATA_DIR: dataDir, ...env });
    processes.push(server);
    return server;
  };

  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'patchbay-process-'));
  });
  afterEach(async () => {
    for (const { child } of processes.splice(0)) child.kill('SIGKILL');
    await rm(dataDir, { recursive: true, force: true });
  });

  it('listens, is live and ready, and ends in order on SIGTERM', async () => {
    const server = run();
    const url = await server.url();
    expect(await (await fetch(`${url}/health/live`)).json()).toEqual({ status: 'live' });
    const ready = await fetch(`${url}/health/ready`);
    expect([ready.status, await ready.json()]).toEqual([
      200,
      { status: 'ready', checks: { server: 'ok', storage: 'ok' } },
    ]);
    server.child.kill('SIGTERM');
    expect(await server.exit()).toBe(0);
    expect(server.stderr).toBe('');
  });

  it('serves its API documentation', async () => {
    const url = await run().url();
    expect((await fetch(`${url}/api/docs`)).status).toBe(200);
    expect((await fetch(`${url}/api/docs/swagger-ui.css`)).status).toBe(200);
    const document = (await (await fetch(`${url}/api/docs-json`)).json()) as { paths: object };
    expect(Object.keys(document.paths)).toContain('/api/v1/workspaces');
  });

  it('names every bad variable in one line and exits with 1', async () => {
    const server = run({ PORT: 'x', PATCHBAY_GRACE_MS: '-1' });
    expect(await server.exit()).toBe(1);
    expect(server.stderr).toBe(
      'patchbay: bad configuration: PORT must be a whole number from 0 to 65535, not "x"; ' +
        'PATCHBAY_GRACE_MS must be a whole number from 0 to 3600000, not "-1"\n',
    );
    expect(server.stdout).toBe('');
  });

  it('says that its port is taken', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as { port: number };
    const server = run({ PORT: String(port) });
    expect(await server.exit()).toBe(1);
    expect(server.stderr).toBe(`patchbay: port ${port} of 127.0.0.1 is in use; set PORT to another one\n`);
    holder.close();
  });

  it('does not start on a data directory that another server has', async () => {
    await run().url();
    const second = run();
    expect(await second.exit()).toBe(1);
    expect(second.stderr).toMatch(/^patchbay: .*in use.*\n$/);
  });

  it('warns of a variable that looks misspelt', async () => {
    const server = run({ PATCHBAY_DATADIR: dataDir });
    await server.url();
    expect(server.stdout).toContain('PATCHBAY_DATADIR is no variable of the server');
  });

  it('ends at once on a second signal', async () => {
    const server = run({ PATCHBAY_DRAIN_MS: '60000' });
    const url = await server.url();
    // A request whose body never comes keeps the first signal waiting.
    const hanging = fetch(`${url}/api/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(new Uint8Array([0x7b])),
      }),
      duplex: 'half',
    }).catch(() => null);
    await new Promise((resolve) => setTimeout(resolve, 200));
    server.child.kill('SIGTERM');
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect((await fetch(`${url}/health/ready`).catch(() => null))?.status ?? 503).toBe(503);
    server.child.kill('SIGTERM');
    expect(await server.exit()).toBe(1);
    await hanging;
  });
});
