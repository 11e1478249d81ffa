import { Injectable } from '@nestjs/common';
import type {
  BatchView,
  ChangeDetails,
  FilePatch,
  FilePatchView,
  PatchChangeOutcome,
  PatchChangeResult,
  PatchFileOutcome,
  PatchFileResult,
} from '@patchbay/protocol';
import { Viewers } from '../access/viewers.js';
import { batchFor, seesProposals } from '../access/visible-batch.js';
import type { Viewer } from '../access/visible-call.js';
import { isoTime } from '../common/clock.js';
import { DomainError } from '../common/domain-error.js';
import { Config } from '../config/config.js';
import { type PatchBatchRecord, PatchStore } from '../storage/ports/patches.store.js';
import type { Membership } from '../storage/ports/turn.js';
import { UserJobs } from '../jobs/user-jobs.js';
import { WorkPool } from '../jobs/work-pool.js';
import { BaseTexts } from './base-texts.js';
import { CloudTexts } from './cloud-texts.js';
import { DIFF_PATCHES, loadOf } from './patch-jobs.js';
import { type PatchOutcome, PatchOutcomes } from './patch-outcomes.js';
import { appliedPart } from './patch-reconciliation.js';

/** A batch that a turn refers to, and its outcome. */
export interface KnownBatch {
  record: PatchBatchRecord;
  outcome: PatchOutcome;
}

/** A requested batch, and the viewer's relation to it. */
export interface ViewedBatch extends KnownBatch {
  viewer: Viewer;
}

/** Reads proposals and outcomes across the sessions of a workspace, restricted to what the viewer may see. */
@Injectable()
export class PatchesService {
  constructor(
    private readonly store: PatchStore,
    private readonly outcomes: PatchOutcomes,
    private readonly texts: BaseTexts,
    private readonly viewers: Viewers,
    private readonly cloud: CloudTexts,
    private readonly pool: WorkPool,
    private readonly jobs: UserJobs,
    private readonly config: Config,
  ) {}

  async batch(member: Membership, batchId: string): Promise<BatchView> {
    return batchView(await this.require(member, batchId));
  }

  async change(member: Membership, changeId: string): Promise<ChangeDetails> {
    const record = await this.store.ofChange(member.workspaceId, changeId);
    const viewed = await this.viewed(member, record, 'change');
    const { batchId, batchKey, batchLabel, createdAt, revertOf, files } = batchView(viewed);
    const file = files.find(({ changes }) => changes.some((change) => change.changeId === changeId))!;
    return {
      ...{ batchId, batchKey, batchLabel, createdAt, revertOf },
      filePatchId: file.filePatchId!,
      fileKey: file.fileKey,
      docPath: file.docPath,
      originalSha256: file.originalSha256,
      change: file.changes.find((change) => change.changeId === changeId)!,
      fileOutcome: file.outcome,
    };
  }

  /**
   * A unified diff for `git apply` of the whole batch or one file: the applied changes, else the proposal if the viewer
   * may see it.
   */
  async diff(member: Membership, batchId: string, filePatchId: string | null): Promise<Buffer> {
    const { record, outcome, viewer } = await this.require(member, batchId);
    const files = (outcome.effective ?? record.batch).files.map((file, at) => ({
      file,
      reported: outcome.result?.files[at],
    }));
    const wanted = files.filter(({ file }) => filePatchId === null || file.filePatchId === filePatchId);
    if (wanted.length === 0) throw new DomainError('NOT_FOUND', 'The batch has no such file patch.');
    const patches = wanted.flatMap(({ file, reported }) => {
      if (reported?.status === 'applied') return [appliedPart(file, reported)];
      return seesProposals(viewer) ? [file] : [];
    });
    const rendered = this.jobs.run(member.userId, () =>
      this.diffOf(member.workspaceId, patches, member.userId),
    );
    return viewer === 'user' ? rendered : rendered.catch(withoutLines);
  }

  /** The batch of a turn as the viewer may see it; else NOT_FOUND. */
  async require(member: Membership, batchId: string): Promise<ViewedBatch> {
    return this.viewed(member, await this.store.byId(member.workspaceId, batchId), 'patch batch');
  }

  /** The batch of a file patch; null if there is none. */
  async ofFilePatch(workspaceId: string, filePatchId: string): Promise<KnownBatch | null> {
    const record = await this.store.ofFilePatch(workspaceId, filePatchId);
    const outcome = record && (await this.outcomes.of(record));
    return record && outcome && { record, outcome };
  }

  private async viewed(
    member: Membership,
    record: PatchBatchRecord | null,
    what: string,
  ): Promise<ViewedBatch> {
    const outcome = record && (await this.outcomes.of(record));
    if (!record || !outcome)
      throw new DomainError('NOT_FOUND', `There is no such ${what} in this workspace.`);
    return { record, outcome, viewer: await this.viewers.of(member, record.userId) };
  }

  private async diffOf(workspaceId: string, files: readonly FilePatch[], userId: string): Promise<Buffer> {
    const diffs: Uint8Array[] = [];
    // A single file has no limit, since the caller cannot ask for less.
    let left = files.length === 1 ? Infinity : this.config.maxBodyBytes;
    const wanted = files.map((patch, at) => ({ sha256: patch.originalSha256, item: { patch, at } }));
    for await (const { bytes, items, isBeyondBudget } of this.texts.each(workspaceId, wanted)) {
      if (isBeyondBudget) throw this.texts.tooMuch();
      if (bytes === null) throw notInCloud(items[0]!.patch);
      const patches: { patch: FilePatch; path: string }[] = [];
      for (const { patch } of items)
        patches.push({ patch, path: await this.cloud.pathOf(workspaceId, patch.docPath) });
      const load = loadOf(
        bytes,
        patches.map(({ patch }) => patch),
      );
      const rendered = await this.pool.run(userId, DIFF_PATCHES, { bytes, patches, maxBytes: left }, load);
      for (const [index, { at }] of items.entries()) {
        diffs[at] = rendered[index]!;
        left -= diffs[at].length;
      }
    }
    return Buffer.concat(diffs);
  }
}

function notInCloud({ docPath }: FilePatch): DomainError {
  const message = `${docPath}: the text that the patch was planned on is not in the Cloud, so there is no diff of it.`;
  return new DomainError('NOT_FOUND', message);
}

/** The batch as the viewer may see it. */
function batchView({ record, outcome, viewer }: ViewedBatch): BatchView {
  const { batchId, sessionId, turnId, callId, userId, revertOf, batch } = record;
  const { batchKey, batchLabel } = batch;
  const { toolCallId, status, error } = outcome.call;
  const view: BatchView = {
    ...{ batchId, batchKey, batchLabel, sessionId, turnId, toolCallId, callId, userId },
    ...{ createdAt: isoTime(record.createdAt), revertOf, status, error },
    files: batch.files.map((file, at) => fileView(file, outcome.result?.files[at])),
    effective: outcome.effective,
  };
  return batchFor(viewer, view, outcome.call);
}

function fileView(file: FilePatch, reported: PatchFileResult | undefined): FilePatchView {
  const changes = file.changes.map((change, at) => ({
    ...change,
    outcome: changeOutcome(reported?.changes[at]),
  }));
  return { ...file, changes, outcome: fileOutcome(reported) };
}

function fileOutcome(reported: PatchFileResult | undefined): PatchFileOutcome | null {
  if (!reported) return null;
  const { status, newSha256, versionId, errorCode, message } = reported;
  return { status, newSha256, versionId, errorCode, message };
}

function changeOutcome(reported: PatchChangeResult | undefined): PatchChangeOutcome | null {
  if (!reported) return null;
  const { status, errorCode, message, details } = reported;
  return { status, errorCode, message, ...(details && { details }) };
}

/** The error of an impossible diff quotes lines of the file, which only the batch's user may see. */
function withoutLines(error: unknown): never {
  if (!(error instanceof DomainError && error.code === 'CONFLICT')) throw error;
  throw new DomainError(
    'CONFLICT',
    'A change of the batch does not apply to the text that the Cloud has of its file.',
  );
}
