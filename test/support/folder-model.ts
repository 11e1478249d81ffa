import {
  CLOUD_CHANGES,
  type InvokeResult,
  type Json,
  type JsonObject,
  type Session,
  type ToolResult,
  type TurnResult,
} from '@patchbay/protocol';
import { randomUUID } from 'node:crypto';
import type { TestUser } from './test-user.js';

/** What `workspace_read_file` says. */
export interface Reading {
  docPath: string;
  content: string;
  sha256: string;
  source: 'active' | 'disk' | 'cloud';
  warnings?: string[];
}

/** A model at work: it reads, plans on what it has read, and says what it wants. */
export class Model {
  private session: Promise<Session> | null = null;

  constructor(
    private readonly user: TestUser,
    private readonly workspaceId: string,
  ) {}

  /** One call, to its end. */
  async call(name: string, args: JsonObject): Promise<ToolResult> {
    const toolCalls = [{ toolCallId: randomUUID(), name, arguments: args }];
    const timeouts = { deliveryMs: 15_000, approvalMs: 15_000, executionMs: 15_000 };
    const { body, status } = await this.user.post<InvokeResult<TurnResult>>(`${await this.base()}/turns`, {
      ...{ toolCalls, timeouts, waitMs: 25_000 },
    });
    const [result] = body.result?.toolResults ?? [];
    if (!result) throw new Error(`${name}: ${status} ${JSON.stringify(body)}`);
    return result;
  }

  /** The result of a call that must succeed. */
  async does(name: string, args: JsonObject): Promise<JsonObject> {
    const { status, result, error } = await this.call(name, args);
    if (status !== 'succeeded') throw new Error(`${name} ${status}: ${JSON.stringify(error ?? result)}`);
    return result as JsonObject;
  }

  async reads(docPath: string): Promise<Reading> {
    return (await this.does('workspace_read_file', { docPath })) as unknown as Reading;
  }

  creates(path: string, content: string, more: JsonObject = {}): Promise<JsonObject> {
    return this.does('workspace_create_file', { path, content, ...more });
  }

  /** Puts a line in front, planned on what the model has read (now, unless it has before). */
  async patches(docPath: string, line: string, planned?: Reading): Promise<ToolResult> {
    const { sha256 } = planned ?? (await this.reads(docPath));
    const changes = [{ operation: 'insert', afterLine: 0, newLines: [line] }];
    return this.call('workspace_write_patch', { files: [{ docPath, originalSha256: sha256, changes }] });
  }

  async context(): Promise<string> {
    return (await this.user.get<string>(`${await this.base()}/context`)).body;
  }

  private async base(): Promise<string> {
    const sessions = `/workspaces/${this.workspaceId}/sessions`;
    // Named, so that the Cloud's copy of a connected folder may change without its disk [SESSION-3].
    const tools = ['client', 'server', ...CLOUD_CHANGES];
    this.session ??= this.user.post<Session>(sessions, { tools }).then(({ body }) => body);
    return `${sessions}/${(await this.session).sessionId}`;
  }
}

/** The errorCode of a patched file that was not applied. */
export function refusalOf({ result, error }: ToolResult): Json {
  const [file] = ((result as JsonObject | null)?.files ?? []) as JsonObject[];
  return (file?.errorCode as Json) ?? error?.code ?? null;
}
