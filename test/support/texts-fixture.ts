import type { ActiveFile, ClientRoot } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { aRoot, type FakeClient } from './fake-client.js';
import type { RelayFixture } from './relay-fixture.js';

/** What a test looks at in the answer of a tool. */
export interface TextAnswer {
  success: boolean;
  result: Record<string, unknown> & { warnings?: string[] };
  error: string | null;
}

/** An Active File as a client tells of it that holds this text. */
export function activeFile(docPath: string, text: string, isDirty = true): ActiveFile {
  const sizeBytes = Buffer.byteLength(text);
  return { docPath, displayPath: docPath, sha256: sha256(text), sizeBytes, isDirty };
}

/** A session whose files are open in clients, or lie in their folders, and a model that reads them. */
export class TextsFixture {
  private readonly folders = new Map<string, ClientRoot>();

  constructor(readonly fixture: RelayFixture) {}

  get session(): string {
    return this.fixture.session.sessionId;
  }

  /** Calls a tool, as a rule in the session. */
  async call(tool: string, args: object, sessionId: string | null = this.session): Promise<TextAnswer> {
    const path = `/workspaces/${this.fixture.workspaceId}/tools`;
    const { body } = await this.fixture.user.post<TextAnswer>(path, {
      ...{ tool, args, ...(sessionId !== null && { sessionId }) },
    });
    return body;
  }

  async readFile(docPath: string, more: object = {}): Promise<TextAnswer['result']> {
    return (await this.call('workspace_read_file', { docPath, ...more })).result;
  }

  async write(path: string, text: string): Promise<void> {
    await this.call('write', { path, content: { text } }, null);
  }

  /** Tells the session's Active Files. */
  async open(...activeFiles: ActiveFile[]): Promise<void> {
    const path = `/workspaces/${this.fixture.workspaceId}/sessions/${this.session}/active-files`;
    await this.fixture.user.request('PUT', path, { activeFiles });
  }

  /** A client that has connected these folders, the same ones each time. */
  client(clientId: string, roots: string[] = []): Promise<FakeClient> {
    for (const name of roots) if (!this.folders.has(name)) this.folders.set(name, aRoot(name));
    return this.fixture.client({
      ...{ clientId, tools: ['workspace_write_patch'] },
      roots: roots.map((name) => this.folders.get(name)!),
    });
  }
}
