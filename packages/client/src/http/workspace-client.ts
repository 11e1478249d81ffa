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
  type TurnEnvelope,
  type Workspace,
  type WorkspaceChange,
  type WorkspaceRoot,
} from '@patchbay/protocol';
import { post, type HttpRequest, type HttpTransport } from './http-transport.js';
import { WorkspaceFiles } from './workspace-files.js';
import { WorkspacePatches } from './workspace-patches.js';

/** How long a server lets a direct call of a client's tool run before it answers, in ms. */
const DIRECT_CALL_MS = 30_000;
const ACCEPTED = 202;

/** Which part of the context is wanted, and how much of it. */
export interface ContextOptions extends Omit<ContextQuery, 'format'> {
  signal?: AbortSignal;
}

/** On whose behalf a tool is called. */
export interface CallToolOptions {
  /** A session of the caller: its Active Files count, and a client's tool goes to its client. */
  sessionId?: string;
  /** Ends the wait, not the call. */
  signal?: AbortSignal;
}

/**
 * One workspace over HTTP: its members, tools, files, sessions, turns, patches and audit trail. From
 * `PatchbayClient.workspace`. Every method throws `PatchbayError`: FORBIDDEN for who is no member, whether the workspace
 * exists or not.
 */
export class WorkspaceClient extends WorkspacePatches {
  /** Its Cloud files. */
  readonly files: WorkspaceFiles;

  constructor(http: HttpTransport, workspaceId: string) {
    super(http, workspaceId);
    this.files = new WorkspaceFiles(http, workspaceId);
  }

  /** Its name, its owners, and the caller's role in it. */
  get(): Promise<Workspace> {
    return this.getJson('');
  }

  /**
   * Changes its name, or of which of the server's tools a person is asked; owners only. What is left out stays.
   *
   * ```ts
   * await workspace.update({ approvals: ['write', 'rm'] });
   * ```
   */
  update(change: WorkspaceChange): Promise<Workspace> {
    return this.send({ method: 'PUT', path: '', body: change });
  }

  /** Who belongs to it, and since when; owners only. */
  async members(): Promise<Member[]> {
    return (await this.getJson<{ members: Member[] }>('/members')).members;
  }

  /** Owners only. NOT_FOUND if nobody has registered with this email, CONFLICT for who is a member already. */
  addMember(email: string, role: Role): Promise<Member> {
    return this.send(post('/members', { email, role } satisfies MemberRequest));
  }

  /** Owners only. CONFLICT for the last owner. */
  setMemberRole(userId: string, role: Role): Promise<Member> {
    const path = `/members/${encodeURIComponent(userId)}`;
    return this.send({ method: 'PUT', path, body: { role } satisfies RoleRequest });
  }

  /** Owners only, but anyone may leave. Open turns of who goes are cancelled. CONFLICT for the last owner. */
  async removeMember(userId: string): Promise<void> {
    await this.send({ method: 'DELETE', path: `/members/${encodeURIComponent(userId)}` });
  }

  /** The folders that are registered here, and what the caller's own clients last said of them. */
  async roots(): Promise<WorkspaceRoot[]> {
    return (await this.getJson<{ roots: WorkspaceRoot[] }>('/roots')).roots;
  }

  /** Registers a folder under its name, as a first connect would. CONFLICT where another folder has the name. */
  claimRoot({ docPath, name, rootId }: ClientRoot): Promise<WorkspaceRoot> {
    const body = { name, rootId } satisfies RootRequest;
    return this.send({ method: 'PUT', path: `/roots/${encodeURIComponent(docPath)}`, body });
  }

  /**
   * Frees the name of a folder, for who registered it or an owner. Files stay, and a client that has it connected
   * registers it again when it connects next. NOT_FOUND where there is none.
   */
  async forgetRoot(docPath: string): Promise<void> {
    await this.send({ method: 'DELETE', path: `/roots/${encodeURIComponent(docPath)}` });
  }

  /** The caller's own clients here: those that are connected first, then the last to leave; 100 at most. */
  async clients(): Promise<ClientPresence[]> {
    return (await this.getJson<{ clients: ClientPresence[] }>('/clients')).clients;
  }

  /**
   * The tools on offer, everywhere or in one session, with their schemas and the guidance for a system prompt. NOT_FOUND
   * where there is no such session, FORBIDDEN where it is another member's.
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
   * Calls one tool outside of a turn and answers when the call has ended, however long a client's tool takes. What the
   * server's tools refuse is thrown (NOT_FOUND, CONFLICT, VALIDATION_ERROR with `fields` by argument); what a client's
   * tool could not do is `success: false`. It is sent once: post a turn where a call must not be lost or run twice.
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
    const open = answer.result as unknown as TurnEnvelope;
    const [ended] = (await this.untilFinal({ ...open, warnings: [] }, null, signal)).toolResults;
    const { result, error } = ended!;
    return {
      success: error === null,
      result: result ?? error?.details ?? null,
      error: error?.message ?? null,
    };
  }

  /**
   * A new session of the caller. With `clientId`, its calls go to that client alone and wait for it; with
   * `tools` it offers those alone. VALIDATION_ERROR for a tool that there is not, TOO_LARGE where the share of sessions is
   * used up.
   */
  createSession(session: SessionRequest = {}): Promise<Session> {
    return this.send(post('/sessions', session));
  }

  /** The caller's own sessions, newest first: `for await (const session of workspace.sessions())`. */
  sessions(signal?: AbortSignal): AsyncGenerator<Session, void> {
    return this.pages({ path: '/sessions', signal }, (page: SessionPage) => page.sessions);
  }

  /** One session. FORBIDDEN for another member's, NOT_FOUND where there is none. */
  session(sessionId: string): Promise<Session> {
    return this.getJson(`/sessions/${encodeURIComponent(sessionId)}`);
  }

  /** Replaces the list of at most 1,000 files that are open in the session's editor; a client with a socket tells it over the relay. */
  async setActiveFiles(sessionId: string, activeFiles: readonly ActiveFile[]): Promise<void> {
    const path = `/sessions/${encodeURIComponent(sessionId)}/active-files`;
    await this.send({ method: 'PUT', path, body: { activeFiles }, idempotent: true });
  }

  /**
   * What belongs into the system prompt of the session's next turn: guidance of the tools, Cloud folders, Active Files and
   * the files of the session, as Markdown or with `format: 'json'` as data. The same until something in it changes.
   * At most `maxBytes` long, from 8 KiB; default 64 KiB.
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

  /** One page of the audit trail, oldest first: 100 events, or `limit`, 500 at most. Pass `nextCursor` back as `cursor` for the next. */
  auditPage(query: AuditQuery = {}, signal?: AbortSignal): Promise<AuditPage> {
    return this.send({ method: 'GET', path: '/audit', query, signal });
  }

  /**
   * The whole audit trail that fits, oldest first: as many pages are read as are asked for.
   *
   * ```ts
   * for await (const { at, name } of workspace.audit({ turnId })) console.log(at, name);
   * ```
   */
  audit(filters: Omit<AuditQuery, 'cursor'> = {}, signal?: AbortSignal): AsyncGenerator<AuditEvent, void> {
    return this.pages({ path: '/audit', query: filters, signal }, (page: AuditPage) => page.events);
  }
}
