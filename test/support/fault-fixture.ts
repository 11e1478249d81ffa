import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AuditEvent, CallStatus, InvokeResult, Session, TurnResult } from '@patchbay/protocol';
import type { Settings } from '../../src/config/config.js';
import { newDataDirectory } from './data-directory.js';
import { checkInvariants, readTrail } from './invariants.js';
import { ClientProcess, freePort, PAUSE_AT, ServerProcess } from './processes.js';
import { RelayProxy } from './relay-proxy.js';
import { TestServer } from './server.js';
import { type Answer, registerUser, type TestUser } from './test-user.js';
import { waitFor } from './wait-for.js';

type TurnAnswer = Answer<InvokeResult<TurnResult>>;

/** A client of a fixture: its folder and its journal stay while its processes come and go. */
export interface Editor {
  name: string;
  user: TestUser;
  proxy: RelayProxy;
  root: string;
  home: string;
  /** Its clientId where its home is not to decide that. */
  clientId?: string;
  /** Its folder is said to be the one that has the name already. */
  sameProject?: boolean;
  /** All of its processes, the last one being the one that runs. */
  processes: ClientProcess[];
}

/** A server, its users and their clients, each of these a process that a test may kill and start again. */
export class FaultFixture {
  private readonly editors: Editor[] = [];
  private readonly servers: ServerProcess[];
  private readonly acknowledged = new Map<string, TurnResult>();
  user!: TestUser;
  workspaceId!: string;
  session!: Session;

  private constructor(
    private readonly directory: string,
    private readonly given: TestServer | ServerProcess,
  ) {
    this.servers = given instanceof ServerProcess ? [given] : [];
  }

  /** On a server that runs: one in a process of its own is the fixture's to kill, one in the test's process is that of others, too. */
  static async on(server: TestServer | ServerProcess): Promise<FaultFixture> {
    const fixture = new FaultFixture(await mkdtemp(join(tmpdir(), 'patchbay-fault-')), server);
    fixture.user = await registerUser(fixture);
    fixture.workspaceId = (await fixture.user.createWorkspace()).id;
    const sessions = `/workspaces/${fixture.workspaceId}/sessions`;
    fixture.session = (await fixture.user.post<Session>(sessions, {})).body;
    return fixture;
  }

  /** The process that runs now, or ran last. */
  get server(): ServerProcess {
    const server = this.servers.at(-1);
    if (!server) throw new Error('The server of this fixture is that of others, too: use onServersInTurn.');
    return server;
  }

  /** To the server that runs now. */
  request<T>(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer<T>> {
    return (this.servers.at(-1) ?? this.given).request<T>(method, path, body, headers);
  }

  /** On the same data directory and port each time. `pauseAt`: where it stops for good (pause-at.mjs). */
  async startServer(pauseAt?: string): Promise<void> {
    const pausing = { NODE_OPTIONS: `--import ${PAUSE_AT}`, PAUSE_AT: pauseAt ?? '' };
    this.servers.push(await this.server.startAgain(pauseAt === undefined ? {} : pausing));
  }

  /** From now on requests go to this other server of the same database, and new connections of clients, too. */
  useServer(server: ServerProcess): void {
    this.servers.push(server);
    for (const { proxy } of this.editors) {
      proxy.port = Number(new URL(server.url).port);
      proxy.reset();
    }
  }

  /** kill -9, and a new process over what it left. */
  async restartServer(pauseAt?: string): Promise<void> {
    await this.killServer();
    await this.startServer(pauseAt);
  }

  /** kill -9. */
  async killServer(): Promise<void> {
    await this.server.kill();
  }

  /** Another user, member of the workspace. */
  async member(): Promise<TestUser> {
    const user = await registerUser(this);
    await this.user.addMember(this.workspaceId, user);
    return user;
  }

  /** A client's folder and journal, with a wire of its own to the server; no process yet. */
  async editor(name = 'editor', user = this.user): Promise<Editor> {
    const [root, home] = [join(this.directory, name, 'project'), join(this.directory, name, 'home')];
    await mkdir(root, { recursive: true });
    const proxy = await RelayProxy.to(Number(new URL(this.given.url).port));
    const editor: Editor = { name, user, proxy, root, home, processes: [] };
    this.editors.push(editor);
    return editor;
  }

  /** Starts the client's process; resolves once it is ready for calls. */
  async connect(
    editor: Editor,
    { yes = true, pauseAt }: { yes?: boolean; pauseAt?: string } = {},
  ): Promise<ClientProcess> {
    const { root, home, proxy, user, processes } = editor;
    const { workspaceId } = this;
    const name = `${editor.name} ${processes.length + 1}`;
    // All folders have one name: after the first they are said to be the same project.
    const sameProject = editor.sameProject ?? editor !== this.editors[0];
    const options = {
      ...{ name, root, home, url: proxy.url, token: user.token, workspaceId },
      ...{ yes, sameProject, pauseAt, clientId: editor.clientId },
    };
    return ClientProcess.start(options, (started) => processes.push(started));
  }

  /** Posts a turn with one create call; by default it does not wait for its end. */
  async post(turnId: string, waitMs = 0): Promise<TurnAnswer> {
    const toolCalls = [
      {
        toolCallId: turnId,
        name: 'workspace_create_file',
        arguments: { path: `${turnId}.txt`, content: `${turnId}\n` },
      },
    ];
    return this.noted(await this.user.post(this.turns, { turnId, toolCalls, waitMs }));
  }

  async get(turnId: string, waitMs = 0): Promise<TurnAnswer> {
    return this.noted(await this.user.get(`${this.turns}/${turnId}?waitMs=${waitMs}`));
  }

  /** Ends every open call of the turn. */
  async cancel(turnId: string): Promise<TurnAnswer> {
    return this.noted(await this.user.post(`${this.turns}/${turnId}/cancel`));
  }

  /** Waits until the turn's call has this status. */
  async reaches(turnId: string, status: CallStatus): Promise<void> {
    const now = async (): Promise<boolean> => {
      const { status: answered, body } = await this.get(turnId);
      if (answered === 404) return false;
      const { toolCalls, toolResults } = body.result;
      return [...toolCalls, ...toolResults].some((call) => call.status === status);
    };
    await waitFor(now, `${turnId} to be ${status}`, 20_000);
  }

  /** Steps of the call that the trail holds, in order. */
  async steps(turnId: string): Promise<string[]> {
    const calls = (await this.trail(turnId)).filter(({ name }) => name.startsWith('Tool.'));
    return calls.map(({ name }) => name.split('.')[2]!);
  }

  /** The attempts of the call that were sent. */
  async attempts(turnId: string): Promise<(number | null)[]> {
    const sent = (await this.trail(turnId)).filter(({ name }) => name === 'Tool.CreateFile.Forwarded');
    return sent.map(({ attempt }) => attempt);
  }

  trail(turnId: string): Promise<AuditEvent[]> {
    return readTrail(this.user, this.workspaceId, `&turnId=${turnId}`);
  }

  /** The file that the turn's call makes; null where there is none. */
  fileOf(editor: Editor, turnId: string): Promise<string | null> {
    return readFile(join(editor.root, `${turnId}.txt`), 'utf8').catch(() => null);
  }

  /**
   * The call succeeded, was executed once, by this editor, and recorded once; nothing lies around; and what the server
   * has ever said of it still holds.
   */
  async expectOnce(turnId: string, editor: Editor): Promise<void> {
    const { status, body } = await this.get(turnId, 20_000);
    expect({ status, result: body.result }).toMatchObject({
      status: 200,
      result: {
        status: 'completed',
        toolResults: [{ toolCallId: turnId, status: 'succeeded', result: { created: true } }],
      },
    });
    expect(await this.fileOf(editor, turnId)).toBe(`${turnId}\n`);
    expect(await readdir(editor.root)).toEqual([`${turnId}.txt`]);
    for (const other of this.editors.filter((one) => one !== editor))
      expect(await readdir(other.root)).toEqual([]);
    const processes = this.editors.flatMap((one) => one.processes);
    const placed = processes.reduce((sum, process) => sum + process.placed, 0);
    expect({ placed }).toEqual({ placed: 1 });
    const { callId } = body.result.toolResults[0]!;
    expect(processes.flatMap(({ executed }) => executed)).toEqual([callId]);
    const steps = await this.steps(turnId);
    expect(steps.filter((step) => step === 'Accepted')).toHaveLength(1);
    expect(steps.filter((step) => step === 'ResultReceived')).toHaveLength(1);
  }

  /** Ends the clients, after the invariants were checked; whoever has given the server ends it, too. */
  async close(): Promise<void> {
    try {
      await this.checkAcknowledged();
      await checkInvariants(this.user, this.workspaceId);
    } finally {
      await Promise.all(this.editors.flatMap(({ processes }) => processes).map((process) => process.kill()));
      for (const { proxy } of this.editors) proxy.close();
      await rm(this.directory, { recursive: true, force: true });
    }
  }

  /** What every process said, for whoever looks into a failure. */
  get log(): string {
    return [...this.servers, ...this.editors.flatMap(({ processes }) => processes)]
      .map(({ log }) => log)
      .join('');
  }

  private get turns(): string {
    return `/workspaces/${this.workspaceId}/sessions/${this.session.sessionId}/turns`;
  }

  private noted(answer: TurnAnswer): TurnAnswer {
    if (answer.status < 300) this.acknowledged.set(answer.body.result.turnId, answer.body.result);
    return answer;
  }

  /** What was answered is still so. */
  private async checkAcknowledged(): Promise<void> {
    for (const [turnId, told] of [...this.acknowledged]) {
      const { status, body } = await this.get(turnId);
      if (status >= 300)
        throw new Error(`Invariant broken: ${turnId} was acknowledged and is gone: ${status}`);
      for (const ended of told.toolResults) expect(body.result.toolResults).toContainEqual(ended);
      const known = [...body.result.toolCalls, ...body.result.toolResults].map(({ callId }) => callId);
      for (const { callId } of [...told.toolCalls, ...told.toolResults]) expect(known).toContain(callId);
    }
  }
}

type FixtureTest = (fixture: FaultFixture) => Promise<void>;
/** Makes the body of a test of what happens in a fixture. */
type InFixture = (test: FixtureTest) => () => Promise<void>;

/**
 * The built server in a process of its own, which the test may kill. What runs at the end of a test is given to the next
 * one of the file, with all that it has kept: not each test starts with a start.
 */
export function onServersInTurn(): InFixture {
  const all = new Set<ServerProcess>();
  const idle: ServerProcess[] = [];
  afterAll(async () => {
    await Promise.all([...all].map((server) => server.kill()));
    for (const { dataDir } of all) await rm(dataDir, { recursive: true, force: true });
  });
  const start = async (): Promise<ServerProcess> => {
    const server = await ServerProcess.start(await newDataDirectory(), await freePort());
    all.add(server);
    return server;
  };
  return (test) => async () => {
    const fixture = await FaultFixture.on(idle.pop() ?? (await start()));
    try {
      await run(test, fixture);
      idle.push(fixture.server);
    } finally {
      all.add(fixture.server);
    }
  };
}

/** One server for all tests of a file, which leave it alone; it starts with the first of them. */
export function onOneServer(config: Partial<Settings> = {}): InFixture {
  let starting: Promise<TestServer> | undefined;
  afterAll(async () => (await starting)?.close());
  return (test) => async () =>
    run(test, await FaultFixture.on(await (starting ??= TestServer.start({ config }))));
}

/** Where the test fails, what the processes said is printed. */
async function run(test: FixtureTest, fixture: FaultFixture): Promise<void> {
  try {
    await test(fixture);
  } catch (error) {
    process.stderr.write(fixture.log);
    await fixture.close().catch(() => undefined);
    throw error;
  }
  await fixture.close();
}
