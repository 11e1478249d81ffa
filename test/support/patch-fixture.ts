import {
  type Ack,
  type FilePutAnswer,
  type FilePatch,
  type JsonObject,
  type PatchBatch,
  type PatchFileResult,
  type ToolCallDelivery,
  type WritePatchResult,
} from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { applyFilePatch } from '@patchbay/protocol/line-patch';
import type { FakeClient } from './fake-client.js';
import { RelayFixture } from './relay-fixture.js';
import type { TestServer } from './server.js';

export const TEXT = 'one\ntwo\nthree\n';
export const DOC = 'repo/src/a.txt';

interface PatchOptions {
  docPath?: string;
  sha?: string;
  changes?: unknown[];
}

export function replaceTwo(change: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    changeKey: 'two',
    operation: 'replace',
    description: 'Say it louder',
    startLine: 2,
    endLine: 2,
    expectedOriginalLines: ['two'],
    newLines: ['TWO'],
    ...change,
  };
}

export function patchCall(files: PatchOptions[] = [{}], more: JsonObject = {}): Record<string, unknown> {
  return {
    toolCallId: 'p1',
    name: 'workspace_write_patch',
    arguments: {
      batchKey: 'louder',
      batchLabel: 'Louder',
      ...more,
      files: files.map(({ docPath = DOC, sha = sha256(TEXT), changes = [replaceTwo()] }, at) => ({
        fileKey: `file-${at}`,
        docPath,
        originalSha256: sha,
        fileLabel: null,
        changes,
      })),
    },
  };
}

/** What a good client answers when it has applied the whole batch; `change` edits the file results. */
export function appliedResult(
  batch: PatchBatch,
  texts: Record<string, string>,
  versions: (string | null)[],
): WritePatchResult {
  const files = batch.files.map((file, at): PatchFileResult => {
    const applied = applyFilePatch(Buffer.from(texts[file.docPath]!), file);
    if (!applied.ok) throw new Error(applied.faults[0]!.message);
    return fileResult(file, sha256(applied.bytes), versions[at] ?? null);
  });
  return {
    success: true,
    batchId: batch.batchId!,
    batchKey: batch.batchKey,
    batchLabel: batch.batchLabel,
    files,
  };
}

export function fileResult(file: FilePatch, newSha256: string, versionId: string | null): PatchFileResult {
  return {
    filePatchId: file.filePatchId!,
    fileKey: file.fileKey,
    docPath: file.docPath,
    status: 'applied',
    originalSha256: file.originalSha256,
    newSha256,
    versionId,
    errorCode: null,
    message: null,
    changes: file.changes.map(({ changeId, changeKey, operation, description }) => ({
      ...{ changeId: changeId!, changeKey, operation, description },
      ...{ status: 'applied', errorCode: null, message: null },
    })),
  };
}

/** A user whose client takes patches, and what the client does with them. */
export class PatchFixture {
  fixture!: RelayFixture;
  client!: FakeClient;

  /** @param server of all tests that it is for. */
  constructor(private readonly server: () => TestServer) {}

  /** A user with a workspace and a client of their own, for the next test. */
  async open(): Promise<RelayFixture> {
    this.fixture = await RelayFixture.on(this.server(), await this.server().register());
    this.client = await this.fixture.client({ tools: ['workspace_write_patch', 'workspace_create_file'] });
    return this.fixture;
  }

  readonly write = async (path: string, text: string): Promise<void> => {
    const call = { tool: 'write', args: { path, content: { text } } };
    const { status } = await this.fixture.user.post(`${this.base()}/tools`, call);
    expect(status).toBe(200);
  };

  readonly put = (
    call: ToolCallDelivery,
    at: number,
    text: string,
    more: Record<string, unknown> = {},
  ): Promise<Ack<FilePutAnswer>> => {
    const file = call.batch!.files[at]!;
    return this.client.socket.timeout(20_000).emitWithAck('files:put', {
      ...{
        docPath: file.docPath,
        path: `/${file.docPath}`,
        content: Buffer.from(text),
        sha256: sha256(text),
      },
      ...{ baseSha256: file.originalSha256, callId: call.callId, filePatchId: file.filePatchId!, ...more },
    });
  };

  /** Has the client apply what it was sent, upload it and report. */
  readonly carryOut = async (
    call: ToolCallDelivery,
    texts: Record<string, string>,
  ): Promise<WritePatchResult> => {
    const versions: (string | null)[] = [];
    for (const [at, file] of call.batch!.files.entries()) {
      const applied = applyFilePatch(Buffer.from(texts[file.docPath]!), file);
      if (!applied.ok) throw new Error(applied.faults[0]!.message);
      const answer = await this.put(call, at, Buffer.from(applied.bytes).toString());
      versions.push(answer.ok ? answer.versionId : null);
    }
    const result = appliedResult(call.batch!, texts, versions);
    expect(await this.client.report(call, { result })).toEqual({ ok: true });
    return result;
  };

  readonly base = (): string => `/workspaces/${this.fixture.workspaceId}`;
}
