import type {
  CallStatus,
  InvokeResult,
  OpenToolCall,
  Session,
  ToolResult,
  TurnResult,
} from '@patchbay/protocol';
import type { Settings } from '../../src/config/config.js';
import { FakeClient, type FakeClientOptions } from './fake-client.js';
import { checkInvariants, readTrail } from './invariants.js';
import { type Answer, startTestServer, type TestServer } from './server.js';
import { TestUser } from './test-user.js';
import { waitFor } from './wait-for.js';

type TurnAnswer = Answer<InvokeResult<TurnResult>>;

/** A user with a workspace and a session on a server: where most relay tests begin. */
export class RelayFixture {
  readonly clients: FakeClient[] = [];

  private constructor(
    readonly server: TestServer,
    readonly user: TestUser,
    readonly workspaceId: string,
    public session: Session,
    private readonly ownsServer: boolean,
  ) {}

  /** On a server of its own, which ends with the fixture. */
  static async start(config: Partial<Settings> = {}): Promise<RelayFixture> {
    const server = await startTestServer({ config });
    return RelayFixture.open(server, await server.register(), true);
  }

  /** In a new workspace on a server that tests share. */
  static on(server: TestServer, user: TestUser): Promise<RelayFixture> {
    return RelayFixture.open(server, user, false);
  }

  private static async open(server: TestServer, user: TestUser, ownsServer: boolean): Promise<RelayFixture> {
    const { id } = await user.createWorkspace();
    const { body } = await user.post<Session>(`/workspaces/${id}/sessions`, {});
    return new RelayFixture(server, user, id, body, ownsServer);
  }

  /** The same user, workspace and session on a server that has started over the same data. */
  movedTo(server: TestServer): RelayFixture {
    const user = new TestUser(server, this.user.credentials);
    return new RelayFixture(server, user, this.workspaceId, this.session, false);
  }

  get base(): string {
    return `/workspaces/${this.workspaceId}/sessions/${this.session.sessionId}/turns`;
  }

  /** Posts a turn; by default it does not wait for the calls. */
  post(toolCalls: unknown[], more: Record<string, unknown> = {}): Promise<TurnAnswer> {
    return this.user.post(this.base, { toolCalls, waitMs: 0, ...more });
  }

  get(turnId: string, waitMs = 0): Promise<TurnAnswer> {
    return this.user.get(`${this.base}/${turnId}?waitMs=${waitMs}`);
  }

  /** Goes on in a new session of the user's, bound to a client where one is named. */
  async newSession(clientId?: string): Promise<void> {
    const path = `/workspaces/${this.workspaceId}/sessions`;
    this.session = (await this.user.post<Session>(path, { clientId })).body;
  }

  /** Cancels the turn, or one call of it. */
  cancel(turnId: string, toolCallId?: string): Promise<TurnAnswer> {
    const call = toolCallId === undefined ? '' : `/tool-calls/${toolCallId}`;
    return this.user.post(`${this.base}/${turnId}${call}/cancel`);
  }

  /** Posts results of calls, as an orchestrator does whose client has no socket. */
  postResults(turnId: string, results: unknown): Promise<TurnAnswer> {
    return this.user.post(`${this.base}/${turnId}/results`, { results });
  }

  /** The turn's calls, open and ended, by their toolCallId. */
  async calls(turnId: string, waitMs = 0): Promise<Record<string, OpenToolCall | ToolResult>> {
    const { result } = (await this.get(turnId, waitMs)).body;
    return Object.fromEntries(
      [...result.toolCalls, ...result.toolResults].map((call) => [call.toolCallId, call]),
    );
  }

  /** Resolves once the call has the status. */
  async untilCall(turnId: string, toolCallId: string, status: CallStatus): Promise<void> {
    await waitFor(
      async () => (await this.calls(turnId))[toolCallId]?.status === status,
      `${toolCallId} ${status}`,
    );
  }

  /** Steps of a call in the audit trail, without their `Tool.CreateFile.`. */
  async steps(toolCallId: string): Promise<string[]> {
    const events = await readTrail(
      this.user,
      this.workspaceId,
      `&toolCallId=${encodeURIComponent(toolCallId)}`,
    );
    return events.map(({ name }) => name.split('.')[2]!);
  }

  clientOptions(change: Partial<FakeClientOptions> = {}): FakeClientOptions {
    return { url: this.server.url, token: this.user.token, workspaceId: this.workspaceId, ...change };
  }

  /** A client of the user that is ready for calls. */
  async client(
    change: Partial<FakeClientOptions> = {},
    journal: Parameters<FakeClient['resume']>[0] = [],
  ): Promise<FakeClient> {
    const client = await FakeClient.ready(this.clientOptions(change), journal);
    this.clients.push(client);
    return client;
  }

  /** Closes everything, after the invariants were checked. */
  async close(): Promise<void> {
    try {
      await checkInvariants(this.user, this.workspaceId);
    } finally {
      this.clients.forEach((client) => client.close());
      if (this.ownsServer) await this.server.close();
    }
  }
}

/** A create call as an orchestrator posts it. */
export function createCall(
  toolCallId: string,
  path = `${toolCallId}.txt`,
  content = 'x\n',
): Record<string, unknown> {
  return { toolCallId, name: 'workspace_create_file', arguments: { path, content } };
}
