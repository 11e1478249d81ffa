import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Credentials, Workspace } from '@patchbay/protocol';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DestinationStream } from 'pino';
import { createApp } from '../../src/bootstrap.js';
import type { Clock } from '../../src/common/clock.js';
import { Config, type Settings } from '../../src/config.js';

export const PASSWORD = 'correct horse battery';

export interface ServerOptions {
  config?: Partial<Settings>;
  clock?: Clock;
  logDestination?: DestinationStream;
}

/** An answer as a test wants it: body read, JSON parsed where it is JSON. */
export interface Answer<T = unknown> {
  status: number;
  headers: Headers;
  body: T;
}

/** A user who is logged in. */
export class TestUser {
  constructor(
    private readonly server: TestServer,
    readonly credentials: Credentials,
  ) {}

  get id(): string {
    return this.credentials.user.id;
  }

  get email(): string {
    return this.credentials.user.email;
  }

  get token(): string {
    return this.credentials.accessToken;
  }

  /** Sends a request with the user's token; `path` starts behind /api/v1. */
  request<T>(method: string, path: string, body?: unknown): Promise<Answer<T>> {
    return this.server.request<T>(method, path, body, { authorization: `Bearer ${this.token}` });
  }

  get<T>(path: string): Promise<Answer<T>> {
    return this.request<T>('GET', path);
  }

  post<T>(path: string, body?: unknown): Promise<Answer<T>> {
    return this.request<T>('POST', path, body);
  }

  /** A new workspace that the user owns. */
  async createWorkspace(name = 'Workspace'): Promise<Workspace> {
    const { status, body } = await this.post<Workspace>('/workspaces', { name });
    if (status !== 201) throw new Error(`createWorkspace: ${status} ${JSON.stringify(body)}`);
    return body;
  }

  /** Adds another user to a workspace that this one owns. */
  async addMember(workspaceId: string, user: TestUser, role: 'owner' | 'member' = 'member'): Promise<void> {
    const answer = await this.post(`/workspaces/${workspaceId}/members`, { email: user.email, role });
    if (answer.status !== 201) throw new Error(`addMember: ${answer.status} ${JSON.stringify(answer.body)}`);
  }
}

/** The real server in this process, on a free port, over a data directory of its own. */
export class TestServer {
  private constructor(
    readonly app: NestFastifyApplication,
    readonly url: string,
    readonly dataDir: string,
    private readonly ownsDataDir: boolean,
  ) {}

  /** Pass `config.dataDir` to start over what another server has left. */
  static async start({ config = {}, clock, logDestination }: ServerOptions = {}): Promise<TestServer> {
    const dataDir = config.dataDir ?? (await mkdtemp(join(tmpdir(), 'patchbay-')));
    const settings = Config.with({ logLevel: 'silent', rateLimit: null, ...config, dataDir, port: 0 });
    const app = await createApp({ config: settings, clock, logDestination });
    await app.listen(0, '127.0.0.1');
    return new TestServer(app, await app.getUrl(), dataDir, config.dataDir === undefined);
  }

  async close(): Promise<void> {
    await this.app.close();
    if (this.ownsDataDir) await rm(this.dataDir, { recursive: true, force: true });
  }

  /** Registers a new user, with an email of their own unless one is given. */
  async register(email = `${randomUUID()}@example.com`, fullName?: string): Promise<TestUser> {
    const answer = await this.request<Credentials>('POST', '/auth/register', {
      email,
      password: PASSWORD,
      fullName,
    });
    if (answer.status !== 201) throw new Error(`register: ${answer.status} ${JSON.stringify(answer.body)}`);
    return new TestUser(this, answer.body);
  }

  /** Sends `body` as JSON to a path behind /api/v1; strings and bytes as they are. */
  async request<T = unknown>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer<T>> {
    const raw = typeof body === 'string' || body instanceof Uint8Array;
    const response = await fetch(`${this.url}/api/v1${path}`, {
      method,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: raw ? body : JSON.stringify(body) }),
    });
    return answerOf<T>(response);
  }

  /** A GET outside /api/v1. */
  async get<T = unknown>(path: string): Promise<Answer<T>> {
    return answerOf<T>(await fetch(`${this.url}${path}`));
  }
}

/** Starts the server for a test; close it in `afterAll` or `afterEach`. */
export function startTestServer(options: ServerOptions = {}): Promise<TestServer> {
  return TestServer.start(options);
}

async function answerOf<T>(response: Response): Promise<Answer<T>> {
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
  return {
    status: response.status,
    headers: response.headers,
    body: (isJson ? JSON.parse(text) : text) as T,
  };
}
