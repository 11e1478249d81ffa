import type { InvokeResult, Session, TurnEnvelope } from '@patchbay/protocol';
import type { Settings } from '../../src/config.js';
import { FakeClient, type FakeClientOptions } from './fake-client.js';
import { checkInvariants } from './invariants.js';
import { type Answer, startTestServer, type TestServer, type TestUser } from './server.js';

type TurnAnswer = Answer<InvokeResult<TurnEnvelope>>;

/** A server, a user with a workspace, and a session: where most relay tests begin. */
export class RelayScene {
  readonly clients: FakeClient[] = [];

  private constructor(
    readonly server: TestServer,
    readonly user: TestUser,
    readonly workspaceId: string,
    public session: Session,
  ) {}

  static async start(config: Partial<Settings> = {}, server?: TestServer): Promise<RelayScene> {
    const running = server ?? (await startTestServer({ config }));
    const user = await running.register();
    const { id } = await user.createWorkspace();
    const { body } = await user.post<Session>(`/workspaces/${id}/sessions`, {});
    return new RelayScene(running, user, id, body);
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

  /** A session of this scene's user that is bound to a client. */
  async bind(clientId: string): Promise<void> {
    const { body } = await this.user.post<Session>(`/workspaces/${this.workspaceId}/sessions`, { clientId });
    this.session = body;
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
      await this.server.close();
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
