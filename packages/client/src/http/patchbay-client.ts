import type {
  Credentials,
  LoginRequest,
  RefreshRequest,
  RegisterRequest,
  User,
  Workspace,
  WorkspacePage,
  WorkspaceRequest,
} from '@patchbay/protocol';
import { HttpTransport, post, type HttpRequest, type WaitOptions } from './http-transport.js';
import { MemoryTokenStore, tokensFrom, type TokenStore } from './tokens.js';
import { WorkspaceClient } from './workspace-client.js';

/** The address of the server, the credentials, and how long requests are retried. */
export interface PatchbayClientOptions extends WaitOptions {
  /**
   * Address of the server, such as `http://127.0.0.1:3000`, or `https://example.com/patchbay` if it is served below a
   * path.
   */
  url: string;
  /** An access token. Omit it to log in. */
  token?: string;
  /** Exchanges an expired access token without a password. */
  refreshToken?: string;
  /** Stores the tokens somewhere else than in memory, for instance to share them between processes. */
  tokenStore?: TokenStore;
}

/**
 * Patchbay over HTTP. Every method throws `PatchbayError`; methods that may take long accept an `AbortSignal`.
 *
 * ```ts
 * const patchbay = new PatchbayClient({ url: 'http://127.0.0.1:3000' });
 * await patchbay.login({ email: 'ada@example.com', password: process.env.PASSWORD! });
 * const [first] = await patchbay.workspaces();
 * const workspace = patchbay.workspace(first!.id);
 * const { sessionId } = await workspace.createSession();
 * const turn = await workspace.runTurn(sessionId, {
 *   toolCalls: [{ toolCallId: 'c1', name: 'workspace_create_file', arguments: { path: 'hello.txt', content: 'hello\n' } }],
 * });
 * console.log(turn.toolResults);
 * ```
 */
export class PatchbayClient {
  private readonly tokens: TokenStore;
  private readonly http: HttpTransport;

  constructor(options: PatchbayClientOptions) {
    const given = options.token
      ? { accessToken: options.token, refreshToken: options.refreshToken ?? null, expiresAt: null }
      : null;
    this.tokens = options.tokenStore ?? new MemoryTokenStore(given);
    this.http = new HttpTransport(options.url, this.tokens, options);
  }

  /** Creates an account and logs in. `password` has 12 to 256 characters. CONFLICT if the email is taken. */
  register(account: RegisterRequest): Promise<User> {
    return this.enter(post('/auth/register', account));
  }

  /** INVALID_TOKEN if the email or the password is wrong. */
  login(account: LoginRequest): Promise<User> {
    return this.enter(post('/auth/login', account));
  }

  /** Ends the login and revokes its refresh token. Does nothing without a login. After NETWORK the login is unchanged. */
  async logout(): Promise<void> {
    await this.tokens.update(async (now) => {
      if (now?.refreshToken) {
        await this.http.request({
          ...post('/auth/logout', { refreshToken: now.refreshToken } satisfies RefreshRequest),
          anonymous: true,
        });
      }
      return null;
    });
  }

  /**
   * The access token, exchanged first if it has expired. Pass a token that the server `refused` to get another one,
   * as RelayClient does before its token expires. INVALID_TOKEN if there is no login or it has ended.
   */
  accessToken(refused?: string): Promise<string> {
    return this.http.accessToken(refused);
  }

  /**
   * Exchanges the access token now and returns the new one. Concurrent calls share one exchange. Errors as for
   * `accessToken`.
   */
  async refresh(): Promise<string> {
    const held = await this.tokens.read();
    return this.http.accessToken(held?.accessToken);
  }

  /** All workspaces of the caller: those that the caller created come first, each group oldest first. */
  async workspaces(signal?: AbortSignal): Promise<Workspace[]> {
    const all: Workspace[] = [];
    let cursor: string | null = null;
    do {
      const path: string = cursor === null ? '/workspaces' : `/workspaces?cursor=${cursor}`;
      const page: WorkspacePage = await this.http.request({ method: 'GET', path, signal });
      all.push(...page.workspaces);
      cursor = page.nextCursor;
    } while (cursor);
    return all;
  }

  /** The caller becomes the owner. `name` is one line of 1 to 256 characters. */
  createWorkspace(name: string): Promise<Workspace> {
    return this.http.request(post('/workspaces', { name } satisfies WorkspaceRequest));
  }

  /** A client for one workspace; sends no request. */
  workspace(workspaceId: string): WorkspaceClient {
    return new WorkspaceClient(this.http, workspaceId);
  }

  private async enter(request: HttpRequest): Promise<User> {
    const credentials = await this.http.request<Credentials>({ ...request, anonymous: true });
    await this.tokens.update(async () => tokensFrom(credentials));
    return credentials.user;
  }
}
