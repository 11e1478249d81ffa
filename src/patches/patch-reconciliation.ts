import { Injectable } from '@nestjs/common';
import type {
  FilePatch,
  Json,
  PatchBatch,
  PatchFileReport,
  PatchFileResult,
  WritePatchReport,
  WritePatchResult,
} from '@patchbay/protocol';
import { selectChanges } from '@patchbay/protocol/line-patch';
import { fieldError } from '../common/domain-error.js';
import { yieldIfBusy } from '../common/yield-if-busy.js';
import { FileStore, type FileVersion } from '../storage/ports/files.store.js';
import { type PatchBatchRecord, PatchStore } from '../storage/ports/patches.store.js';
import { UserJobs } from '../jobs/user-jobs.js';
import { WorkPool } from '../jobs/work-pool.js';
import { BaseTexts } from './base-texts.js';
import { completedResult } from './completed-result.js';
import { effectiveBatch } from './effective-batch.js';
import { PatchOutcomes } from './patch-outcomes.js';
import { APPLY_PATCHES, loadOf } from './patch-jobs.js';

/** A reported file that differs from the upload or from the server's own computation. */
export interface Divergence extends Record<string, Json> {
  filePatchId: string;
  docPath: string;
  /**
   * What the reported sha256 was compared with. `former`: for a revert, the file before the batch. `unchecked`: the
   * texts are too large to apply here.
   */
  against: 'upload' | 'own_application' | 'former' | 'unchecked';
  reportedSha256: string;
  /** null: nothing was uploaded with this sha256. */
  otherSha256: string | null;
}

/** An applied file whose bytes were never uploaded [PATCH-15]. */
export interface NotUploaded extends Record<string, Json> {
  filePatchId: string;
  docPath: string;
  reportedSha256: string;
}

/** A completed report, and the server's findings about it. */
export interface Reconciled {
  /** The completed report; equal reports give equal results, whatever the Cloud holds since. */
  completed: WritePatchResult;
  result: WritePatchResult;
  divergences: Divergence[];
  notUploaded: NotUploaded[];
}

/** Compares a client's report of a batch with the proposal, the uploads and the server's own computation. */
@Injectable()
export class PatchReconciliation {
  constructor(
    private readonly store: PatchStore,
    private readonly files: FileStore,
    private readonly texts: BaseTexts,
    private readonly outcomes: PatchOutcomes,
    private readonly pool: WorkPool,
    private readonly jobs: UserJobs,
  ) {}

  /**
   * Completes a schema-valid report. VALIDATION_ERROR if it is not about this batch. `edited`: the arguments as a
   * person changed them.
   */
  async check(
    workspaceId: string,
    batchId: string,
    report: WritePatchReport,
    edited: Json | null,
  ): Promise<Reconciled> {
    const record = await this.store.byId(workspaceId, batchId);
    if (!record) throw new Error(`Batch ${batchId} of a turn is not stored`);
    checkIds(record.batch, report);
    const completed = await completedResult(record.batch, report);
    const effective = edited === null ? record.batch : effectiveBatch(record.batch, edited);
    const applied = completed.files.flatMap((reported, at) =>
      reported.status === 'applied' && reported.newSha256 !== null
        ? [{ at, reported, patch: appliedPart(effective.files[at]!, reported) }]
        : [],
    );
    const { found: uploads, missing, versionIds } = await this.againstUploads(workspaceId, applied);
    const formers = edited === null ? await this.formersOf(record) : null;
    const isRestored = ({ at, patch }: AppliedFile) =>
      formers !== null && patch.changes.length === record.batch.files[at]!.changes.length;
    const restored = againstFormers(formers, applied.filter(isRestored));
    const rest = applied.filter((file) => !isRestored(file));
    const found = [...uploads, ...restored, ...(await this.againstOwnApplication(record, rest))];
    const divergences = found.sort((a, b) => a.at - b.at).map(({ divergence }) => divergence);
    const result = withVersions(completed, versionIds);
    return { completed, result, divergences, notUploaded: missing };
  }

  /** Ids of all changes of a batch. */
  async changeIdsOf(workspaceId: string, batchId: string): Promise<Set<string>> {
    const record = await this.store.byId(workspaceId, batchId);
    const changes = record?.batch.files.flatMap((file) => file.changes) ?? [];
    return new Set(changes.flatMap(({ changeId }) => changeId ?? []));
  }

  private async againstUploads(
    workspaceId: string,
    applied: readonly AppliedFile[],
  ): Promise<{ found: FoundAt[]; missing: NotUploaded[]; versionIds: Map<number, string> }> {
    const found: FoundAt[] = [];
    const missing: NotUploaded[] = [];
    const versionIds = new Map<number, string>();
    for (const { at, reported } of applied) {
      await yieldIfBusy();
      const { filePatchId, docPath, versionId } = reported;
      const version = await this.versionOf(workspaceId, reported);
      if (versionId === null) {
        // A conflicting version never became the file.
        if (version && !version.conflict) versionIds.set(at, version.id);
        if (version === null) missing.push({ filePatchId, docPath, reportedSha256: reported.newSha256! });
      } else if (version?.id !== versionId) {
        found.push({ at, divergence: differs(reported, 'upload', version?.sha256 ?? null) });
      }
    }
    return { found, missing, versionIds };
  }

  /** The version with the reported bytes: the patch's upload, else the head, or the version that the client names. */
  private async versionOf(
    workspaceId: string,
    { filePatchId, docPath, versionId, newSha256 }: PatchFileResult,
  ): Promise<FileVersion | null> {
    const uploaded = await this.files.versionOfPatch(workspaceId, filePatchId, newSha256!);
    if (uploaded) return uploaded.version;
    const file = await this.files.at(workspaceId, docPath);
    if (file?.kind !== 'file') return null;
    const isNamed = versionId !== null && versionId !== file.head.id;
    const version = isNamed ? await this.files.versionOf(workspaceId, file.id, versionId) : file.head;
    return version?.sha256 === newSha256 ? version : null;
  }

  /** For a revert: sha256 of each file before the reverted batch, by docPath. Null for any other batch. */
  private async formersOf({ workspaceId, revertOf }: PatchBatchRecord): Promise<Map<string, string> | null> {
    const undone = revertOf === null ? null : await this.store.byId(workspaceId, revertOf);
    if (undone === null) return null;
    const { files } = (await this.outcomes.of(undone))?.effective ?? undone.batch;
    return new Map(files.map(({ docPath, originalSha256 }) => [docPath, originalSha256]));
  }

  /** Applies the accepted changes here if the base is in the Cloud, and compares. */
  private againstOwnApplication(
    record: PatchBatchRecord,
    applied: readonly AppliedFile[],
  ): Promise<FoundAt[]> {
    return applied.length === 0
      ? Promise.resolve([])
      : this.jobs.run(record.userId, () => this.applyAll(record, applied));
  }

  private async applyAll(
    { workspaceId, userId }: PatchBatchRecord,
    applied: readonly AppliedFile[],
  ): Promise<FoundAt[]> {
    const found: FoundAt[] = [];
    const wanted = applied.map((item) => ({ sha256: item.patch.originalSha256, item }));
    for await (const { bytes, items, isBeyondBudget } of this.texts.each(workspaceId, wanted)) {
      if (isBeyondBudget) {
        found.push(
          ...items.map(({ at, reported }) => ({ at, divergence: differs(reported, 'unchecked', null) })),
        );
      }
      if (bytes === null) continue;
      const patches = items.map(({ patch }) => patch);
      const own = await this.pool.run(userId, APPLY_PATCHES, { bytes, patches }, loadOf(bytes, patches));
      for (const [index, { at, reported }] of items.entries()) {
        if (own[index] === reported.newSha256) continue;
        found.push({ at, divergence: differs(reported, 'own_application', own[index]!) });
      }
    }
    return found;
  }
}

/** An applied file with its index in the batch. */
interface AppliedFile {
  at: number;
  patch: FilePatch;
  reported: PatchFileResult;
}

interface FoundAt {
  at: number;
  divergence: Divergence;
}

/** Adds the versions of the files that the client did not name [PATCH-14]. */
function withVersions(result: WritePatchResult, versionIds: ReadonlyMap<number, string>): WritePatchResult {
  if (versionIds.size === 0) return result;
  const files = result.files.map((file, at) => ({
    ...file,
    versionId: versionIds.get(at) ?? file.versionId,
  }));
  return { ...result, files };
}

/** A completely reverted file equals the original, byte for byte [PATCH-7]. */
function againstFormers(formers: Map<string, string> | null, restored: readonly AppliedFile[]): FoundAt[] {
  return restored.flatMap(({ at, reported }) => {
    const former = formers?.get(reported.docPath) ?? null;
    return former === reported.newSha256 ? [] : [{ at, divergence: differs(reported, 'former', former) }];
  });
}

function differs(
  { filePatchId, docPath, newSha256 }: PatchFileResult,
  against: Divergence['against'],
  otherSha256: string | null,
): Divergence {
  return { filePatchId, docPath, against, reportedSha256: newSha256!, otherSha256 };
}

/** The changes of a file patch that were applied. */
export function appliedPart(patch: FilePatch, { changes }: PatchFileResult): FilePatch {
  const applied = new Set(
    changes.filter(({ status }) => status === 'applied').map(({ changeId }) => changeId),
  );
  return selectChanges(patch, (at) => applied.has(patch.changes[at]!.changeId!));
}

/** A result must contain exactly the files and changes of the batch, in order. */
function checkIds(batch: PatchBatch, result: WritePatchReport): void {
  const proposed = [batch.batchId, ...batch.files.flatMap(idsOf)].join();
  const reported = [result.batchId, ...result.files.flatMap(idsOf)].join();
  if (proposed === reported) return;
  throw fieldError(
    'result',
    'must name batchId, and every filePatchId and changeId of the batch, once each and in its order',
  );
}

function idsOf({ filePatchId, changes }: FilePatch | PatchFileReport): (string | undefined)[] {
  return [filePatchId, ...changes.map(({ changeId }) => changeId)];
}
