import {
  type AuditEvent,
  type AuditPage,
  type AuditQuery,
  type ClientRoot,
  type ContextQuery,
  type InvokeResult,
  type Member,
  type MemberRequest,
  type PostedResult,
  randomId,
  type ResultsRequest,
  type Role,
  type RoleRequest,
  type RootRequest,
  type Session,
  type SessionContext,
  type SessionRequest,
  type ToolContract,
  type TurnEnvelope,
  type TurnQuery,
  type TurnRequest,
  type Workspace,
  type WorkspaceChange,
  type WorkspaceRoot,
} from '@patchbay/protocol';
import { post, type HttpRequest, type HttpTransport } from './http-transport.js';
import { WorkspaceFiles } from './workspace-files.js';

/** How long one poll of `runTurn` lets the server hold its answer. */
const POLL_MS = 30_000;

/** The turn envelope, with what the server warns about beside it. */
export type TurnOutcome = TurnEnvelope & { warnings: InvokeResult<TurnEnvelope>['warnings'] };

/** One workspace over HTTP: its members, tools, files, sessions, turns and audit trail. From `PatchbayClient.workspace`. */
export class WorkspaceClient {
  /** Its Cloud files. */
  readonly files: WorkspaceFiles;

  constructor(
    private readonly http: HttpTransport,
    readonly workspaceId: string,
  ) {
    this.files = new WorkspaceFiles(http, workspaceId);
  }

  /** FORBIDDEN unless the caller is a member. */
  get(): Promise<Workspace> {
    return this.read('');
  }

  /** Changes its name, or of which of the server's tools a person is asked; owners only. What is left out stays. */
  update(change: WorkspaceChange): Promise<Workspace> {
    return this.send({ method: 'PUT', path: '', body: change });
  }

  async members(): Promise<Member[]> {
    return (await this.read<{ members: Member[] }>('/members')).members;
  }

  /** Owners only. NOT_FOUND if nobody has registered with this email. */
  addMember(email: string, role: Role): Promise<Member> {
    return this.send(post('/members', { email, role } satisfies MemberRequest));
  }

  setMemberRole(userId: string, role: Role): Promise<Member> {
    return this.send({ method: 'PUT', path: `/members/${userId}`, body: { role } satisfies RoleRequest });
  }

  /** CONFLICT for the last owner. */
  async removeMember(userId: string): Promise<void> {
    await this.send({ method: 'DELETE', path: `/members/${userId}` });
  }

  /** The folders that are registered here, and what the caller's own clients last said of them. */
  async roots(): Promise<WorkspaceRoot[]> {
    return (await this.read<{ roots: WorkspaceRoot[] }>('/roots')).roots;
  }

  /** Registers a folder under its name, as a first connect would. CONFLICT where another folder has the name. */
  claimRoot({ docPath, name, rootId }: ClientRoot): Promise<WorkspaceRoot> {
    const body = { name, rootId } satisfies RootRequest;
    return this.send({ method: 'PUT', path: `/roots/${encodeURIComponent(docPath)}`, body });
  }

  /**
   * Frees the name of a folder, for who registered it or an owner. Files stay, and a client that has it connected
   * registers it again when it connects next.
   */
  async forgetRoot(docPath: string): Promise<void> {
    await this.send({ method: 'DELETE', path: `/roots/${encodeURIComponent(docPath)}` });
  }

  /** The tools on offer, everywhere or in one session, with their schemas and the guidance for a system prompt. */
  async catalog(sessionId?: string): Promise<ToolContract[]> {
    const request: HttpRequest = { method: 'GET', path: '/tools', query: { sessionId } };
    return (await this.send<{ tools: ToolContract[] }>(request)).tools;
  }

  /**
   * A new session of the caller. With `clientId`, its calls go to that client alone and wait for it; with
   * `tools` it offers those alone.
   */
  createSession(session: SessionRequest = {}): Promise<Session> {
    return this.send(post('/sessions', session));
  }

  async sessions(): Promise<Session[]> {
    return (await this.read<{ sessions: Session[] }>('/sessions')).sessions;
  }

  session(sessionId: string): Promise<Session> {
    return this.read(`/sessions/${encodeURIComponent(sessionId)}`);
  }

  /**
   * What belongs into the system prompt of the session's next turn: guidance of the tools, Cloud folders, Active Files and
   * the files of the session, as Markdown or with `format: 'json'` as data. The same until something in it changes.
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
    const request = this.inWorkspace({ method: 'GET', path, query, signal });
    if (format === 'json') return this.http.request<SessionContext>(request);
    return new TextDecoder().decode((await this.http.requestBytes(request)).bytes);
  }

  /**
   * Posts a turn and answers after `waitMs` (default 30,000) or once all its calls have ended, whichever is first.
   * A turnId is given if there is none, so a network fault or a 503 is retried without running anything twice.
   * CONFLICT if the turnId stands for another turn.
   */
  postTurn(sessionId: string, turn: TurnRequest, signal?: AbortSignal): Promise<TurnOutcome> {
    const body = { ...turn, turnId: turn.turnId ?? randomId() };
    const waitMs = turn.waitMs ?? POLL_MS;
    return this.turn({ ...post(turnsPath(sessionId), body), idempotent: true, waitMs, signal });
  }

  /** The turn as it stands, or as it stands after at most `waitMs` (default 0) if it is open. */
  getTurn(sessionId: string, turnId: string, options: TurnPollOptions = {}): Promise<TurnOutcome> {
    const { signal, ...query } = options;
    const { waitMs } = query;
    return this.turn({ method: 'GET', path: turnPath(sessionId, turnId), query, waitMs, signal });
  }

  /** Posts a turn and returns when all its calls have ended. Ending the wait does not cancel the turn. */
  async runTurn(sessionId: string, turn: TurnRequest, signal?: AbortSignal): Promise<TurnOutcome> {
    let outcome = await this.postTurn(sessionId, turn, signal);
    while (outcome.kind !== 'final') {
      const { resultFormat } = turn;
      outcome = await this.getTurn(sessionId, outcome.turnId, { waitMs: POLL_MS, resultFormat, signal });
    }
    return outcome;
  }

  /** Ends every open call of the turn; what has ended stays as it is. */
  cancelTurn(sessionId: string, turnId: string): Promise<TurnOutcome> {
    return this.turn({ ...post(`${turnPath(sessionId, turnId)}/cancel`), idempotent: true });
  }

  cancelCall(sessionId: string, turnId: string, toolCallId: string): Promise<TurnOutcome> {
    const path = `${turnPath(sessionId, turnId)}/tool-calls/${encodeURIComponent(toolCallId)}/cancel`;
    return this.turn({ ...post(path), idempotent: true });
  }

  /** Hands in results without a socket: all are taken or none. */
  postResults(sessionId: string, turnId: string, results: PostedResult[]): Promise<TurnOutcome> {
    return this.turn(post(`${turnPath(sessionId, turnId)}/results`, { results } satisfies ResultsRequest));
  }

  /** One page of the audit trail, oldest first. Pass `nextCursor` back as `cursor` for the next. */
  auditPage(query: AuditQuery = {}, signal?: AbortSignal): Promise<AuditPage> {
    return this.send({ method: 'GET', path: '/audit', query, signal });
  }

  /** The whole audit trail that fits, page by page: `for await (const event of workspace.audit({ turnId }))`. */
  async *audit(
    filters: Omit<AuditQuery, 'cursor'> = {},
    signal?: AbortSignal,
  ): AsyncGenerator<AuditEvent, void> {
    let cursor: string | undefined;
    do {
      const page = await this.auditPage({ ...filters, cursor }, signal);
      yield* page.events;
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
  }

  private async turn(request: HttpRequest): Promise<TurnOutcome> {
    const { result, warnings } = await this.send<InvokeResult<TurnEnvelope>>(request);
    return { ...result, warnings };
  }

  private read<T>(path: string): Promise<T> {
    return this.send({ method: 'GET', path });
  }

  private send<T>(request: HttpRequest): Promise<T> {
    return this.http.request(this.inWorkspace(request));
  }

  private inWorkspace(request: HttpRequest): HttpRequest {
    return { ...request, path: `/workspaces/${encodeURIComponent(this.workspaceId)}${request.path}` };
  }
}

export interface ContextOptions extends Omit<ContextQuery, 'format'> {
  signal?: AbortSignal;
}

export interface TurnPollOptions extends TurnQuery {
  signal?: AbortSignal;
}

const turnsPath = (sessionId: string) => `/sessions/${encodeURIComponent(sessionId)}/turns`;
const turnPath = (sessionId: string, turnId: string) =>
  `${turnsPath(sessionId)}/${encodeURIComponent(turnId)}`;
