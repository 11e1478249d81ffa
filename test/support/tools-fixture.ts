import type { AuditEvent, JsonObject } from '@patchbay/protocol';
import type { Settings } from '../../src/config/config.js';
import { checkInvariants, readTrail } from './invariants.js';
import {
  type Answer,
  type ServerOptions,
  startTestServer,
  type TestServer,
  type TestUser,
} from './server.js';

export interface ToolAnswer {
  success: boolean;
  result: JsonObject;
  error: string | null;
  code?: string;
  fields?: Record<string, string>;
}

/** A server, and a user with a workspace who calls tools in it. */
export class ToolsFixture {
  private constructor(
    readonly server: TestServer,
    readonly user: TestUser,
    readonly workspaceId: string,
  ) {}

  static async start(config: Partial<Settings> = {}, options: ServerOptions = {}): Promise<ToolsFixture> {
    const server = await startTestServer({ config, ...options });
    const user = await server.register();
    return new ToolsFixture(server, user, (await user.createWorkspace()).id);
  }

  /** The same server and user in a new workspace. */
  async elsewhere(): Promise<ToolsFixture> {
    return new ToolsFixture(this.server, this.user, (await this.user.createWorkspace()).id);
  }

  get base(): string {
    return `/workspaces/${this.workspaceId}`;
  }

  /** Calls a tool, whatever comes of it. */
  call(tool: string, args?: unknown, more: object = {}): Promise<Answer<ToolAnswer>> {
    return this.user.post(`${this.base}/tools`, { tool, args, ...more });
  }

  /** Calls a tool that must succeed; gives its result. */
  async ok<T = Record<string, string>>(tool: string, args: unknown): Promise<T> {
    const { status, body } = await this.call(tool, args);
    if (status !== 200 || !body.success) throw new Error(`${tool}: ${status} ${JSON.stringify(body)}`);
    return body.result as T;
  }

  async write(path: string, content: unknown = { text: path }): Promise<Record<string, string>> {
    return this.ok('write', { path, content });
  }

  async read(path: string): Promise<unknown> {
    return (await this.ok<{ content: unknown }>('read', { path })).content;
  }

  /** Paths that `ls` names. */
  async list(path = '/', recursive = false): Promise<string[]> {
    const { entries } = await this.ok<{ entries: { path: string }[] }>('ls', { path, recursive });
    return entries.map((entry) => entry.path);
  }

  /** Sends a request with these headers and gives the body as bytes. */
  async raw(
    method: string,
    path: string,
    headers: Record<string, string> = {},
    body?: string | Uint8Array,
  ): Promise<Answer<Buffer>> {
    const response = await fetch(`${this.server.url}/api/v1${this.base}${path}`, {
      method,
      headers: { authorization: `Bearer ${this.user.token}`, ...headers },
      ...(body !== undefined && { body }),
    });
    const { status, headers: answered } = response;
    return { status, headers: answered, body: Buffer.from(await response.arrayBuffer()) };
  }

  trail(query = ''): Promise<AuditEvent[]> {
    return readTrail(this.user, this.workspaceId, query);
  }

  async close(): Promise<void> {
    try {
      await checkInvariants(this.user, this.workspaceId);
    } finally {
      await this.server.close();
    }
  }
}
