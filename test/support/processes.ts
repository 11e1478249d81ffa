import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { backendEnv } from './backend.js';
import { watchOutput } from './log-watch.js';
import { type Answer, sendRequest } from './test-user.js';
import { waitFor } from './wait-for.js';

const SERVER = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
export const CLIENT = fileURLToPath(new URL('../../packages/cli/bin/patchbay.cjs', import.meta.url));
/** Loaded with `--import`, stops a process at the step that the variable PAUSE_AT names. */
export const PAUSE_AT = fileURLToPath(new URL('./pause-at.mjs', import.meta.url));

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A process of a test's own: what it says is kept, and it is only ever ended by its pid. */
export class TestProcess {
  stdout = '';
  stderr = '';
  readonly exited: Promise<Exit>;
  private readonly child: ChildProcess;

  constructor(
    readonly name: string,
    script: string,
    args: readonly string[],
    env: Record<string, string>,
    /** A file descriptor takes what it says on stdout. */
    stdout: 'pipe' | number = 'pipe',
  ) {
    const child = spawn(process.execPath, [script, ...args], {
      env: { PATH: process.env.PATH ?? '', ...env },
      stdio: ['ignore', stdout, 'pipe'],
    });
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.stdout += text));
    child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    this.exited = new Promise((resolve) => {
      child.once('close', (code, signal) => resolve({ code, signal }));
      // `close` never comes where what it said last is not read.
      child.once('exit', (code, signal) => child.stdout?.isPaused() && resolve({ code, signal }));
    });
    this.child = child;
  }

  /** Nobody reads its stdout from here on. */
  closeStdout(): void {
    this.child.stdout?.destroy();
  }

  /** Its stdout is open, and nobody reads it. */
  pauseStdout(): void {
    this.child.stdout?.pause();
  }

  get running(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** kill -9; resolves once the process is gone. */
  async kill(): Promise<Exit> {
    this.child.kill('SIGKILL');
    return this.exited;
  }

  /** Waits until stdout or stderr holds the text; fails at once where the process ends without having said it. */
  async says(text: string | RegExp, timeoutMs = 25_000): Promise<void> {
    const said = (): boolean => [this.stdout, this.stderr].some((stream) => stream.search(text) !== -1);
    await waitFor(() => said() || !this.running, `${this.name} to say ${text}`, timeoutMs);
    if (!said()) throw new Error(`${this.name} ended without saying ${text}:\n${this.log}`);
  }

  /** All that it said, for whoever looks into a failure. */
  get log(): string {
    return `--- ${this.name}, stdout\n${this.stdout}--- ${this.name}, stderr\n${this.stderr}`;
  }
}

/** What every server of a test has unless it says otherwise: open to all, unlimited, and with the cheapest passwords that there are. */
const FOR_TESTS = {
  PATCHBAY_REGISTRATION: 'open',
  PATCHBAY_RATE_LIMIT: 'off',
  PATCHBAY_PASSWORD_COST: '14',
};

/** The built server, `node dist/main.js`. */
export class ServerProcess extends TestProcess {
  readonly url: string;

  private constructor(
    readonly dataDir: string,
    script: string,
    port: number,
    env: Record<string, string>,
  ) {
    super('server', script, [], { ...FOR_TESTS, PORT: String(port), ...env });
    this.url = `http://127.0.0.1:${port}`;
    void this.exited.then(() => watchOutput(this.stdout));
  }

  /** Resolves once it listens. `script`: the main.js of another build. */
  static async start(
    dataDir: string,
    port: number,
    env: Record<string, string> = {},
    script = SERVER,
  ): Promise<ServerProcess> {
    const server = new ServerProcess(dataDir, script, port, {
      ...backendEnv(dataDir),
      PATCHBAY_DATA_DIR: dataDir,
      ...env,
    });
    await server.says('Listening on');
    return server;
  }

  /** After its end: a new process on the same data directory and port. */
  startAgain(env: Record<string, string> = {}): Promise<ServerProcess> {
    return ServerProcess.start(this.dataDir, Number(new URL(this.url).port), env);
  }

  /** Sends `body` as JSON to a path behind /api/v1. */
  request<T = unknown>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer<T>> {
    return sendRequest<T>(this.url, method, path, body, headers);
  }
}

export interface ClientProcessOptions {
  name: string;
  url: string;
  token: string;
  workspaceId: string;
  root: string;
  home: string;
  /** Answers every approval with allow; without it calls wait. */
  yes: boolean;
  /** By default its home decides. */
  clientId?: string | undefined;
  /** The folder is the one that has the name already. */
  sameProject?: boolean | undefined;
  /** Where the process stops for good (pause-at.mjs). */
  pauseAt?: string | undefined;
}

/** The built client, `patchbay connect`. */
export class ClientProcess extends TestProcess {
  /** Resolves once the client is connected and ready for calls; `onStart` has the process from its first moment. */
  static async start(
    options: ClientProcessOptions,
    onStart: (client: ClientProcess) => void = () => undefined,
  ): Promise<ClientProcess> {
    const { name, url, token, workspaceId, root, home, yes, clientId, sameProject, pauseAt } = options;
    const flags = [
      ...(yes ? ['--yes'] : []),
      ...(sameProject ? ['--same-project'] : []),
      ...(clientId === undefined ? [] : ['--client-id', clientId]),
    ];
    const client = new ClientProcess(name, CLIENT, ['connect', '--root', root, ...flags], {
      PATCHBAY_URL: url,
      PATCHBAY_TOKEN: token,
      PATCHBAY_WORKSPACE: workspaceId,
      PATCHBAY_HOME: home,
      NODE_OPTIONS: `--import ${PAUSE_AT}`,
      ...(pauseAt !== undefined && { PAUSE_AT: pauseAt }),
    });
    onStart(client);
    await client.says(/^connected$/m, 20_000);
    return client;
  }

  /** callIds of the `Tool.CreateFile.Executed` lines so far. */
  get executed(): string[] {
    const lines = this.stderr
      .split('\n')
      .filter((line) => line.startsWith('{"event":"Tool.CreateFile.Executed"'));
    return lines.map((line) => (JSON.parse(line) as { callId: string }).callId);
  }

  /** How often it put a file in its place. */
  get placed(): number {
    return this.stderr.split('\n').filter((line) => line === 'test: a file was put in its place').length;
  }
}

/** Each Jest worker has its own: who is killed and starts again on its port finds no other file's server there. */
const PORTS_OF_A_WORKER = 1_000;
const PORTS_FROM = 20_000 + (Number(process.env.JEST_WORKER_ID ?? 0) % 10) * PORTS_OF_A_WORKER;

/** A free port outside the range from which the system takes those of outgoing connections: it stays free. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = PORTS_FROM + Math.floor(Math.random() * PORTS_OF_A_WORKER);
    const probe = createServer().listen(port, '127.0.0.1');
    const free = await once(probe, 'listening').then(
      () => true,
      () => false,
    );
    if (!free) continue;
    probe.close();
    await once(probe, 'close');
    return port;
  }
}
