import type { InvokeResult, Session, TurnResult } from '@patchbay/protocol';
import { FakeClient } from './fake-client.js';
import { readTrail } from './invariants.js';
import type { Answer, TestServer, TestUser } from './server.js';

/** The answer to a user who is not a member of the workspace. */
export const NOT_A_MEMBER = {
  status: 403,
  body: { error: 'Access forbidden: User is not a member of this workspace', code: 'FORBIDDEN' },
};

/** A workspace of Ada's with a session of Ben, a member whom she can remove. */
export class MembershipFixture {
  private constructor(
    readonly ada: TestUser,
    readonly ben: TestUser,
    readonly workspaceId: string,
    private readonly sessionId: string,
    private readonly server: TestServer,
  ) {}

  static async on(server: TestServer): Promise<MembershipFixture> {
    const [ada, ben] = await Promise.all([server.register(), server.register()]);
    const { id } = await ada.createWorkspace();
    await ada.addMember(id, ben);
    const { body } = await ben.post<Session>(`/workspaces/${id}/sessions`, {});
    return new MembershipFixture(ada, ben, id, body.sessionId, server);
  }

  get base(): string {
    return `/workspaces/${this.workspaceId}`;
  }

  /** The path of the turns of Ben's session. */
  get turns(): string {
    return `${this.base}/sessions/${this.sessionId}/turns`;
  }

  /** A client of Ben's that is ready for calls. */
  client(): Promise<FakeClient> {
    const { server, ben, workspaceId } = this;
    return FakeClient.ready({ url: server.url, token: ben.token, workspaceId });
  }

  /** Removes Ben from the workspace. */
  async remove(): Promise<void> {
    expect((await this.ada.request('DELETE', `${this.base}/members/${this.ben.id}`)).status).toBe(204);
  }

  /** Posts the turn `t` in Ben's session. */
  post(user: TestUser, toolCalls: unknown[], waitMs = 20_000): Promise<Answer<InvokeResult<TurnResult>>> {
    return user.post(this.turns, { turnId: 't', toolCalls, waitMs });
  }

  write(user: TestUser, path: string): Promise<Answer> {
    return user.post(`${this.base}/tools`, { tool: 'write', args: { path, content: { text: 'needle' } } });
  }

  /** The names of the events in the trail, without `Tool.`. */
  async steps(query = ''): Promise<string[]> {
    const events = await readTrail(this.ada, this.workspaceId, query);
    return events.map(({ name }) => name.replace('Tool.', ''));
  }
}
