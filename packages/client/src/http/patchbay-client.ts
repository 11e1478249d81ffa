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

/** Where the server is, how the caller proves who they are, and how long requests are tried. */
export interface PatchbayClientOptions extends WaitOptions {
  /** Where the server is, such as `http://127.0.0.1:3000`, or `https://example.com/patchbay` where it is below a path. */
  url: string;
  /** An access token. Leave it out to log in. */
  token?: string;
  /** Lets an expired access token be exchanged without a password. */
  refreshToken?: string;
  /** Keeps the tokens elsewhere than in memory, for instance for several processes. */
  tokenStore?: TokenStore;
}

/**
 * Patchbay over HTTP. Every method throws `PatchbayError`, and takes an `AbortSignal` where it may take long.
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

  /** Makes an account and logs in as it. `password` has 12 to 256 characters. CONFLICT if the email is taken. */
  register(account: RegisterRequest): Promise<User> {
    return this.enter(post('/auth/register', account));
  }

  /** INVALID_TOKEN if email and password do not belong together. */
  login(account: LoginRequest): Promise<User> {
    return this.enter(post('/auth/login', account));
  }

  /** Ends the login: its refresh token works no more. Without a login nothing happens. NETWORK leaves it as it was. */
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
   * The access token, exchanged first if it has expired. Pass the one that a server `refused` to get another:
   * this is what a RelayClient asks for when its token is about to end. INVALID_TOKEN where nobody is logged in, or the
   * login has ended.
   */
  accessToken(refused?: string): Promise<string> {
    return this.http.accessToken(refused);
  }

  /** Exchanges the access token now and returns the new one. Calls at the same time share one exchange. Errors are those of `accessToken`. */
  async refresh(): Promise<string> {
    const held = await this.tokens.read();
    return this.http.accessToken(held?.accessToken);
  }

  /** All workspaces that the caller is a member of: those that the caller made first. */
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

  /** The caller becomes its owner. `name` is one line of 1 to 256 characters. */
  createWorkspace(name: string): Promise<Workspace> {
    return this.http.request(post('/workspaces', { name } satisfies WorkspaceRequest));
  }

  /** Everything inside one workspace; makes no request by itself. */
  workspace(workspaceId: string): WorkspaceClient {
    return new WorkspaceClient(this.http, workspaceId);
  }

  private async enter(request: HttpRequest): Promise<User> {
    const credentials = await this.http.request<Credentials>({ ...request, anonymous: true });
    await this.tokens.update(async () => tokensFrom(credentials));
    return credentials.user;
  }
}
