import {
  type ActiveFile,
  type AuditEvent,
  type AuditPage,
  type AuditQuery,
  type ClientPresence,
  type ClientRoot,
  type ContextQuery,
  type DirectCallAnswer,
  type DirectCallRequest,
  type JsonObject,
  type Member,
  type MemberRequest,
  type Role,
  type RoleRequest,
  type RootRequest,
  type Session,
  type SessionContext,
  type SessionPage,
  type SessionRequest,
  type ToolContract,
  type TurnResult,
  type Workspace,
  type WorkspaceChange,
  type WorkspaceRoot,
} from '@patchbay/protocol';
import { post, type HttpRequest, type HttpTransport } from './http-transport.js';
import { WorkspaceFiles } from './workspace-files.js';
import { WorkspacePatches } from './workspace-patches.js';

/** How long the server lets a direct call of a client tool run before it answers, in ms. */
const DIRECT_CALL_MS = 30_000;
const ACCEPTED = 202;

/** The wanted part of the context, and its size. */
export interface ContextOptions extends Omit<ContextQuery, 'format'> {
  signal?: AbortSignal;
}

/** The session in which a tool is called. */
export interface CallToolOptions {
  /** A session of the caller: its Active Files apply, and a client tool runs in its client. */
  sessionId?: string;
  /** Ends the wait, not the call. */
  signal?: AbortSignal;
}

/**
 * One workspace over HTTP: its members, tools, files, sessions, turns, patches and audit trail. Created by
 * `PatchbayClient.workspace`. Every method throws `PatchbayError`: FORBIDDEN if the caller is not a member, also if
 * the workspace does not exist.
 */
export class WorkspaceClient extends WorkspacePatches {
  readonly files: WorkspaceFiles;

  constructor(http: HttpTransport, workspaceId: string) {
    super(http, workspaceId);
    this.files = new WorkspaceFiles(http, workspaceId);
  }

  /** Name, owners, and the caller's role. */
  get(): Promise<Workspace> {
    return this.getJson('');
  }

  /**
   * Changes the name, or the server tools that need approval; owners only. Omitted fields stay unchanged.
   *
   * ```ts
   * await workspace.update({ approvals: ['write', 'rm'] });
   * ```
   */
  update(change: WorkspaceChange): Promise<Workspace> {
    return this.send({ method: 'PUT', path: '', body: change });
  }

  /** The members and when they joined; owners only. */
  async members(): Promise<Member[]> {
    return (await this.getJson<{ members: Member[] }>('/members')).members;
  }

  /** Owners only. NOT_FOUND if no user has this email, CONFLICT if the user is a member already. */
  addMember(email: string, role: Role): Promise<Member> {
    return this.send(post('/members', { email, role } satisfies MemberRequest));
  }

  /** Owners only. CONFLICT for the last owner. */
  setMemberRole(userId: string, role: Role): Promise<Member> {
    const path = `/members/${encodeURIComponent(userId)}`;
    return this.send({ method: 'PUT', path, body: { role } satisfies RoleRequest });
  }

  /**
   * Owners only, but members may remove themselves. Cancels the open turns of the removed member. CONFLICT for the
   * last owner.
   */
  async removeMember(userId: string): Promise<void> {
    await this.send({ method: 'DELETE', path: `/members/${encodeURIComponent(userId)}` });
  }

  /** The folders that are registered here, and what the caller's own clients last reported about them. */
  async roots(): Promise<WorkspaceRoot[]> {
    return (await this.getJson<{ roots: WorkspaceRoot[] }>('/roots')).roots;
  }

  /** Registers a folder under its name, as its first connect would. CONFLICT if another folder has the name. */
  claimRoot({ docPath, name, rootId }: ClientRoot): Promise<WorkspaceRoot> {
    const body = { name, rootId } satisfies RootRequest;
    return this.send({ method: 'PUT', path: `/roots/${encodeURIComponent(docPath)}`, body });
  }

  /**
   * Frees the name of a folder; for the user who registered it and for owners. Its files stay. A client that has it
   * connected registers it again at its next connect. NOT_FOUND if there is none.
   */
  async forgetRoot(docPath: string): Promise<void> {
    await this.send({ method: 'DELETE', path: `/roots/${encodeURIComponent(docPath)}` });
  }

  /** The caller's own clients here, at most 100: connected ones first, then by the time they disconnected, latest first. */
  async clients(): Promise<ClientPresence[]> {
    return (await this.getJson<{ clients: ClientPresence[] }>('/clients')).clients;
  }

  /**
   * The available tools, of the workspace or of one session, with their schemas and the guidance for a system prompt.
   * NOT_FOUND if the session does not exist, FORBIDDEN if it belongs to another member.
   *
   * ```ts
   * const tools = (await workspace.catalog(sessionId)).map(({ name, description, requestSchema }) => ({
   *   type: 'function', function: { name, description, parameters: requestSchema },
   * }));
   * ```
   */
  async catalog(sessionId?: string): Promise<ToolContract[]> {
    const request: HttpRequest = { method: 'GET', path: '/tools', query: { sessionId } };
    return (await this.send<{ tools: ToolContract[] }>(request)).tools;
  }

  /**
   * Calls one tool outside of a turn and answers when the call has ended, however long a client tool takes. A refusal
   * by a server tool is thrown (NOT_FOUND, CONFLICT, VALIDATION_ERROR with `fields` by argument); a failure in a
   * client tool is `success: false`. The request is sent once: post a turn if a call must not be lost or run twice.
   *
   * ```ts
   * const { result } = await workspace.callTool('ls', { path: '/src' });
   * ```
   */
  async callTool(
    tool: string,
    args: JsonObject = {},
    { sessionId, signal }: CallToolOptions = {},
  ): Promise<DirectCallAnswer> {
    const body: DirectCallRequest = { tool, args, ...(sessionId !== undefined && { sessionId }) };
    const request = { ...post('/tools', body), waitMs: DIRECT_CALL_MS, signal };
    const { status, bytes } = await this.http.requestBytes(this.inWorkspace(request));
    const answer = JSON.parse(new TextDecoder().decode(bytes)) as DirectCallAnswer;
    if (status !== ACCEPTED) return answer;
    const open = answer.result as unknown as TurnResult;
    const [ended] = (await this.untilFinal({ ...open, warnings: [] }, null, signal)).toolResults;
    const { result, error } = ended!;
    return {
      success: error === null,
      result: result ?? error?.details ?? null,
      error: error?.message ?? null,
    };
  }

  /**
   * A new session of the caller. With `clientId`, its calls go to that client alone and wait for it; with `tools` it
   * offers those alone. VALIDATION_ERROR for an unknown tool, TOO_LARGE if the quota of sessions is used up.
   */
  createSession(session: SessionRequest = {}): Promise<Session> {
    return this.send(post('/sessions', session));
  }

  /** The caller's own sessions, newest first: `for await (const session of workspace.sessions())`. */
  sessions(signal?: AbortSignal): AsyncGenerator<Session, void> {
    return this.pages({ path: '/sessions', signal }, (page: SessionPage) => page.sessions);
  }

  /** One session. FORBIDDEN if it belongs to another member, NOT_FOUND if it does not exist. */
  session(sessionId: string): Promise<Session> {
    return this.getJson(`/sessions/${encodeURIComponent(sessionId)}`);
  }

  /**
   * Replaces the list of the files that are open in the session's editor, at most 1,000. A client with a socket sends
   * it over the relay instead.
   */
  async setActiveFiles(sessionId: string, activeFiles: readonly ActiveFile[]): Promise<void> {
    const path = `/sessions/${encodeURIComponent(sessionId)}/active-files`;
    await this.send({ method: 'PUT', path, body: { activeFiles }, idempotent: true });
  }

  /**
   * The context for the system prompt of the session's next turn: guidance of the tools, Cloud folders, Active Files
   * and the files of the session, as Markdown or with `format: 'json'` as data. Stays the same until something in it
   * changes. At most `maxBytes` long, from 8 KiB; default 64 KiB.
   *
   * ```ts
   * const system = await workspace.context(sessionId, { maxBytes: 32_768, include: 'active' });
   * ```
   */
  context(sessionId: string, options?: ContextOptions & { format?: 'markdown' }): Promise<string>;
  context(sessionId: string, options: ContextOptions & { format: 'json' }): Promise<SessionContext>;
  async context(
    sessionId: string,
    {
      format = 'markdown',
      maxBytes,
      include,
      signal,
    }: ContextOptions & { format?: 'markdown' | 'json' } = {},
  ): Promise<string | SessionContext> {
    const query = { format, maxBytes, include };
    const path = `/sessions/${encodeURIComponent(sessionId)}/context`;
    if (format === 'json') return this.send<SessionContext>({ method: 'GET', path, query, signal });
    return this.readText({ path, query, signal });
  }

  /**
   * One page of the audit trail, oldest first: 100 events, or `limit`, at most 500. Pass `nextCursor` as `cursor` to
   * get the next page.
   */
  auditPage(query: AuditQuery = {}, signal?: AbortSignal): Promise<AuditPage> {
    return this.send({ method: 'GET', path: '/audit', query, signal });
  }

  /**
   * All audit events that match, oldest first. Reads pages as the loop needs them.
   *
   * ```ts
   * for await (const { at, name } of workspace.audit({ turnId })) console.log(at, name);
   * ```
   */
  audit(filters: Omit<AuditQuery, 'cursor'> = {}, signal?: AbortSignal): AsyncGenerator<AuditEvent, void> {
    return this.pages({ path: '/audit', query: filters, signal }, (page: AuditPage) => page.events);
  }
}
