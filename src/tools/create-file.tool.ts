import { Injectable } from '@nestjs/common';
import { createFile, docPathFault, type Json, type JsonObject, type ToolCallError } from '@patchbay/protocol';
import { pathFields } from '../common/audit-path.js';
import { WorkPool } from '../jobs/work-pool.js';
import { FileStore } from '../storage/ports/files.store.js';
import type { Call, CallSubject, Turn } from '../storage/ports/turn.js';
import { positionOf } from '../storage/ports/turn-calls.js';
import { TurnStore } from '../storage/ports/turns.store.js';
import { HASH_TEXT } from './text-jobs.js';
import type { Reconciliation, ToolDefinition } from './tool.js';

/** A client's report of a created file. */
type Reported = JsonObject & { hash: string; sizeBytes: number };

/** A created file that differs from the arguments or from the upload. */
interface CreateDivergence extends Record<string, Json> {
  path: string | null;
  /** What the report was compared with. */
  against: 'arguments' | 'upload';
  reportedSha256: string;
  otherSha256: string;
  reportedSizeBytes: number;
  otherSizeBytes: number;
}

/** `workspace_create_file`: a whole file in one of the user's folders, written by their client. */
@Injectable()
export class CreateFileTool implements ToolDefinition {
  readonly contract = createFile;
  readonly order = 10;
  readonly pathArguments = ['path'];

  constructor(
    private readonly turns: TurnStore,
    private readonly files: FileStore,
    private readonly pool: WorkPool,
  ) {}

  subject({ path, overwrite }: JsonObject): CallSubject {
    return { ...pathFields(path), overwrite: overwrite === true };
  }

  /** Compares a client's report of a created file with the arguments and the upload [CREATE-30]. */
  async reconcile(turn: Turn, call: Call, reported: Json, edited: Json): Promise<Reconciliation> {
    const unchanged = { result: reported, completed: reported };
    if ((reported as JsonObject).success !== true) return unchanged;
    const divergence = await this.divergenceOf(turn, call, reported as Reported, edited);
    if (divergence === null) return unchanged;
    return { ...unchanged, divergences: [divergence], warnings: [divergedWarning(divergence)] };
  }

  private async divergenceOf(
    turn: Turn,
    call: Call,
    reported: Reported,
    edited: Json,
  ): Promise<CreateDivergence | null> {
    const { content } = (edited ?? (await this.argumentsOf(turn, call))) as { content: string };
    const requested = (await this.pool.run(turn.userId, HASH_TEXT, content, { bytes: content.length }))!;
    return (
      difference(reported, 'arguments', requested.hash, requested.sizeBytes) ??
      (await this.againstUpload(turn, call, reported))
    );
  }

  private argumentsOf(turn: Turn, { callId }: Call): Promise<Json> {
    return this.turns.argumentsOfCall(turn, positionOf(turn.calls, callId));
  }

  /** Compares with the head that the call created. */
  private async againstUpload(
    { workspaceId }: Turn,
    { callId }: Call,
    reported: Reported,
  ): Promise<CreateDivergence | null> {
    const { docPath } = reported;
    if (typeof docPath !== 'string' || docPathFault(docPath) !== null) return null;
    const entry = await this.files.at(workspaceId, docPath);
    if (entry?.kind !== 'file' || entry.head.callId !== callId) return null;
    return difference(reported, 'upload', entry.head.sha256, entry.head.sizeBytes);
  }
}

function difference(
  { path, hash, sizeBytes }: Reported,
  against: CreateDivergence['against'],
  otherSha256: string,
  otherSizeBytes: number,
): CreateDivergence | null {
  if (hash === otherSha256 && sizeBytes === otherSizeBytes) return null;
  return {
    ...pathFields(path),
    ...{ against, reportedSha256: hash, otherSha256 },
    ...{ reportedSizeBytes: sizeBytes, otherSizeBytes },
  };
}

const CREATED_AS = { arguments: 'what it was to write', upload: 'what was uploaded' };

/** The warning for a file that differs from the expected one. */
function divergedWarning(found: CreateDivergence): ToolCallError {
  const reported = `sha256 ${found.reportedSha256} and ${found.reportedSizeBytes} bytes`;
  const other = `sha256 ${found.otherSha256} and ${found.otherSizeBytes} bytes`;
  const message = `${found.path}: the client reports ${reported}, ${CREATED_AS[found.against]} has ${other}. Read the file again before you patch it.`;
  return { code: 'DIVERGED', message };
}
