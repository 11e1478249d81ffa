import { Injectable } from '@nestjs/common';
import { createFile, docPathFault, type Json, type JsonObject } from '@patchbay/protocol';
import { FileStore } from '../../storage/ports/files.store.js';
import type { Call, Turn } from '../../storage/ports/turn.js';
import { positionOf } from '../../storage/ports/turn-calls.js';
import { TurnStore } from '../../storage/ports/turns.store.js';
import { HASH_TEXT } from '../../tools/text-jobs.js';
import { pathFields } from '../../common/audit-path.js';
import { WorkPool } from '../../jobs/work-pool.js';

/** A created file that is not as it was asked for, or not what was uploaded. */
export interface CreateDivergence extends Record<string, Json> {
  path: string | null;
  /** What the report was held against. */
  against: 'arguments' | 'upload';
  reportedSha256: string;
  otherSha256: string;
  reportedSizeBytes: number;
  otherSizeBytes: number;
}

/** Holds what a client reports of a file that it has created against what it was to create, and has uploaded [CREATE-30]. */
@Injectable()
export class CreateCheck {
  constructor(
    private readonly turns: TurnStore,
    private readonly files: FileStore,
    private readonly pool: WorkPool,
  ) {}

  /**
   * In what a report that keeps to the response schema is wrong; null where it is not, or is about something else.
   * @param edited the arguments as the person has changed them; null: as they were posted
   */
  async check(turn: Turn, call: Call, result: Json, edited: Json): Promise<CreateDivergence | null> {
    if (call.name !== createFile.name || (result as JsonObject).success !== true) return null;
    const reported = result as JsonObject & { hash: string; sizeBytes: number };
    const { content } = (edited ?? (await this.argumentsOf(turn, call))) as { content: string };
    const asked = (await this.pool.run(turn.userId, HASH_TEXT, content, { bytes: content.length }))!;
    return (
      difference(reported, 'arguments', asked.hash, asked.sizeBytes) ??
      (await this.againstUpload(turn, call, reported))
    );
  }

  private argumentsOf(turn: Turn, { callId }: Call): Promise<Json> {
    return this.turns.argumentsOfCall(turn, positionOf(turn.calls, callId));
  }

  /** What the call has made the head. */
  private async againstUpload(
    { workspaceId }: Turn,
    { callId }: Call,
    reported: JsonObject & { hash: string; sizeBytes: number },
  ): Promise<CreateDivergence | null> {
    const { docPath } = reported;
    if (typeof docPath !== 'string' || docPathFault(docPath) !== null) return null;
    const entry = await this.files.at(workspaceId, docPath);
    if (entry?.kind !== 'file' || entry.head.callId !== callId) return null;
    return difference(reported, 'upload', entry.head.sha256, entry.head.sizeBytes);
  }
}

function difference(
  { path, hash, sizeBytes }: JsonObject & { hash: string; sizeBytes: number },
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
