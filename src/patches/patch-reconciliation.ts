import { Injectable } from '@nestjs/common';
import type { FilePatch, Json, PatchBatch, PatchFileResult, WritePatchResult } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import { applyFilePatch, parsePatchBatch, selectChanges } from '@patchbay/protocol/line-patch';
import { fieldError } from '../common/domain-error.js';
import { FileStore } from '../storage/ports/files.store.js';
import { type PatchBatchRecord, PatchStore } from '../storage/ports/patches.store.js';
import { CloudTexts } from './cloud-texts.js';

const EDITED = 'approval.editedArguments';

/** A reported file that is not what was uploaded, or not what the server computes itself. */
export interface Divergence extends Record<string, Json> {
  filePatchId: string;
  docPath: string;
  /** What the reported sha256 was held against. */
  against: 'upload' | 'own_application';
  reportedSha256: string;
  /** null: nothing was uploaded under this sha256. */
  otherSha256: string | null;
}

/** Holds what a client reports of a batch against what was proposed, uploaded and computed here. */
@Injectable()
export class PatchReconciliation {
  constructor(
    private readonly store: PatchStore,
    private readonly files: FileStore,
    private readonly texts: CloudTexts,
  ) {}

  /**
   * The divergences of a result that keeps to the response schema already. VALIDATION_ERROR where it is not about this
   * batch. `edited` are the arguments as the person changed them.
   */
  async check(
    workspaceId: string,
    batchId: string,
    result: WritePatchResult,
    edited: Json | null,
  ): Promise<Divergence[]> {
    const record = await this.store.byId(workspaceId, batchId);
    if (!record) throw new Error(`Batch ${batchId} of a turn is not stored`);
    checkIds(record.batch, result);
    const effective = edited === null ? record.batch : effectiveBatch(record.batch, edited);
    const found = await Promise.all(
      result.files.map((file, at) => this.checkFile(record, effective.files[at]!, file)),
    );
    return found.flat();
  }

  /** Ids of all changes of a batch. */
  async changeIdsOf(workspaceId: string, batchId: string): Promise<Set<string>> {
    const record = await this.store.byId(workspaceId, batchId);
    const changes = record?.batch.files.flatMap((file) => file.changes) ?? [];
    return new Set(changes.flatMap(({ changeId }) => changeId ?? []));
  }

  private async checkFile(
    { workspaceId }: PatchBatchRecord,
    patch: FilePatch,
    reported: PatchFileResult,
  ): Promise<Divergence[]> {
    if (reported.status !== 'applied' || reported.newSha256 === null) return [];
    const { filePatchId, docPath, newSha256: reportedSha256 } = reported;
    const diverged: Divergence[] = [];
    const differs = (against: Divergence['against'], otherSha256: string | null): void =>
      void diverged.push({ filePatchId, docPath, against, reportedSha256, otherSha256 });
    if (reported.versionId !== null) {
      const uploaded = await this.files.versionOfPatch(workspaceId, filePatchId, reportedSha256);
      if (uploaded?.version.id !== reported.versionId) differs('upload', uploaded?.version.sha256 ?? null);
    }
    const own = await this.ownSha256(workspaceId, patch, reported);
    if (own !== undefined && own !== reportedSha256) differs('own_application', own);
    return diverged;
  }

  /** What applying the accepted changes here gives; undefined where the base is not in the Cloud. */
  private async ownSha256(
    workspaceId: string,
    patch: FilePatch,
    reported: PatchFileResult,
  ): Promise<string | null | undefined> {
    const base = await this.texts.bytes(workspaceId, patch.originalSha256);
    if (!base) return undefined;
    const applied = applyFilePatch(base, appliedPart(patch, reported));
    return applied.ok ? sha256(applied.bytes) : null;
  }
}

/** The changes of a file patch that were applied. */
export function appliedPart(patch: FilePatch, { changes }: PatchFileResult): FilePatch {
  const applied = new Set(
    changes.filter(({ status }) => status === 'applied').map(({ changeId }) => changeId),
  );
  return selectChanges(patch, (at) => applied.has(patch.changes[at]!.changeId!));
}

/**
 * The batch as a person has edited it: parsed like a proposal, under the ids of what was proposed. An edit changes lines,
 * it does not add or drop files or changes: those are rejected or denied.
 */
export function effectiveBatch(proposed: PatchBatch, edited: Json): PatchBatch {
  const parsed = parsePatchBatch(edited);
  if (!parsed.ok) {
    throw fieldError(EDITED, parsed.faults[0]!.message, parsed as unknown as Json);
  }
  const { files } = parsed.batch;
  const sameShape =
    files.length === proposed.files.length &&
    files.every((file, at) => file.changes.length === proposed.files[at]!.changes.length);
  if (!sameShape) {
    throw fieldError(EDITED, 'must have the files and changes of the proposed batch, in its order');
  }
  return {
    ...parsed.batch,
    batchId: proposed.batchId!,
    files: files.map((file, at) => withIdsOf(proposed.files[at]!, file)),
  };
}

function withIdsOf(proposed: FilePatch, edited: FilePatch): FilePatch {
  const changes = edited.changes.map((change, at) => ({
    ...change,
    changeId: proposed.changes[at]!.changeId!,
  }));
  return { ...edited, filePatchId: proposed.filePatchId!, changes };
}

/** A result is about the very files and changes that were sent, in their order. */
function checkIds(batch: PatchBatch, result: WritePatchResult): void {
  const proposed = [batch.batchId, ...batch.files.flatMap(idsOf)].join();
  const reported = [result.batchId, ...result.files.flatMap(idsOf)].join();
  if (proposed === reported) return;
  throw fieldError(
    'result',
    'must name batchId, and every filePatchId and changeId of the batch, once each and in its order',
  );
}

function idsOf({ filePatchId, changes }: FilePatch | PatchFileResult): (string | undefined)[] {
  return [filePatchId, ...changes.map(({ changeId }) => changeId)];
}
