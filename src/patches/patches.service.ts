import { Injectable } from '@nestjs/common';
import type {
  CallStatus,
  FilePatch,
  PatchBatch,
  PatchChange,
  PatchChangeResult,
  PatchFileResult,
  ToolCallError,
} from '@patchbay/protocol';
import { unifiedDiff } from '@patchbay/protocol/line-patch';
import { isoTime } from '../common/clock.js';
import { DomainError } from '../common/domain-error.js';
import { type PatchBatchRecord, PatchStore } from '../storage/ports/patches.store.js';
import { CloudTexts } from './cloud-texts.js';
import { type PatchOutcome, PatchOutcomes } from './patch-outcomes.js';
import { appliedPart } from './patch-reconciliation.js';

/** What became of a file or a change, without the ids that stand beside it; null while that is open. */
type FileOutcome = Pick<PatchFileResult, 'status' | 'newSha256' | 'versionId' | 'errorCode' | 'message'>;
type ChangeOutcome = Pick<PatchChangeResult, 'status' | 'errorCode' | 'message'>;

export type ChangeView = PatchChange & { outcome: ChangeOutcome | null };
export type FilePatchView = Omit<FilePatch, 'changes'> & {
  changes: ChangeView[];
  outcome: FileOutcome | null;
};

/** A batch with its ids, who made it when, and what became of it. */
export interface BatchView {
  batchId: string;
  batchKey: string | null;
  batchLabel: string | null;
  sessionId: string;
  turnId: string;
  toolCallId: string;
  callId: string;
  userId: string;
  createdAt: string;
  revertOf: string | null;
  status: CallStatus;
  error: ToolCallError | null;
  files: FilePatchView[];
  /** What was applied in the place of `files`, where a person edited the batch. */
  effective: PatchBatch | null;
}

/** One change with the file and batch that it belongs to. */
export interface ChangeDetails extends Pick<
  BatchView,
  'batchId' | 'batchKey' | 'batchLabel' | 'createdAt' | 'revertOf'
> {
  filePatchId: string;
  fileKey: string | null;
  docPath: string;
  originalSha256: string;
  change: ChangeView;
  fileOutcome: FileOutcome | null;
}

/** A batch that a turn refers to, and what became of it. */
export interface KnownBatch {
  record: PatchBatchRecord;
  outcome: PatchOutcome;
}

/** Answers what was proposed, and what became of it, across the sessions of a workspace. */
@Injectable()
export class PatchesService {
  constructor(
    private readonly store: PatchStore,
    private readonly outcomes: PatchOutcomes,
    private readonly texts: CloudTexts,
  ) {}

  async batch(workspaceId: string, batchId: string): Promise<BatchView> {
    return batchView(await this.require(workspaceId, batchId));
  }

  async change(workspaceId: string, changeId: string): Promise<ChangeDetails> {
    const { batchId, batchKey, batchLabel, createdAt, revertOf, files } = batchView(
      await this.known(await this.store.ofChange(workspaceId, changeId), 'change'),
    );
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

  /** A unified diff that `git apply` takes, of the whole batch or one file: what was applied, or else what is proposed. */
  async diff(workspaceId: string, batchId: string, filePatchId: string | null): Promise<string> {
    const { record, outcome } = await this.require(workspaceId, batchId);
    const patches = (outcome.effective ?? record.batch).files.map((file, at) => {
      const reported = outcome.result?.files[at];
      return reported?.status === 'applied' ? appliedPart(file, reported) : file;
    });
    const wanted = patches.filter((file) => filePatchId === null || file.filePatchId === filePatchId);
    if (wanted.length === 0) throw new DomainError('NOT_FOUND', 'The batch has no such file patch.');
    const diffs = await Promise.all(wanted.map((file) => this.fileDiff(workspaceId, file)));
    return diffs.join('');
  }

  /** A batch that some turn refers to; NOT_FOUND for any other. */
  async require(workspaceId: string, batchId: string): Promise<KnownBatch> {
    return this.known(await this.store.byId(workspaceId, batchId), 'patch batch');
  }

  /** The batch that a file patch belongs to; null where there is none. */
  async ofFilePatch(workspaceId: string, filePatchId: string): Promise<KnownBatch | null> {
    const record = await this.store.ofFilePatch(workspaceId, filePatchId);
    const outcome = record && (await this.outcomes.of(record));
    return record && outcome && { record, outcome };
  }

  private async known(record: PatchBatchRecord | null, what: string): Promise<KnownBatch> {
    const outcome = record && (await this.outcomes.of(record));
    if (!record || !outcome)
      throw new DomainError('NOT_FOUND', `There is no such ${what} in this workspace.`);
    return { record, outcome };
  }

  private async fileDiff(workspaceId: string, patch: FilePatch): Promise<string> {
    const original = await this.texts.bytes(workspaceId, patch.originalSha256);
    if (!original) {
      throw new DomainError(
        'NOT_FOUND',
        `${patch.docPath}: the text that the patch was planned on is not in the Cloud, so there is no diff of it.`,
      );
    }
    const rendered = unifiedDiff(original, patch);
    if (rendered.ok) return rendered.diff;
    throw new DomainError('CONFLICT', `${patch.docPath}: ${rendered.faults[0]!.message}`);
  }
}

function batchView({ record, outcome }: KnownBatch): BatchView {
  const { batchId, sessionId, turnId, callId, userId, revertOf, batch } = record;
  const { batchKey, batchLabel } = batch;
  return {
    ...{ batchId, batchKey, batchLabel, sessionId, turnId, toolCallId: outcome.toolCallId, callId, userId },
    createdAt: isoTime(record.createdAt),
    revertOf,
    status: outcome.status,
    error: outcome.error,
    files: batch.files.map((file, at) => fileView(file, outcome.result?.files[at])),
    effective: outcome.effective,
  };
}

function fileView(file: FilePatch, reported: PatchFileResult | undefined): FilePatchView {
  const changes = file.changes.map((change, at) => ({
    ...change,
    outcome: changeOutcome(reported?.changes[at]),
  }));
  return { ...file, changes, outcome: fileOutcome(reported) };
}

function fileOutcome(reported: PatchFileResult | undefined): FileOutcome | null {
  if (!reported) return null;
  const { status, newSha256, versionId, errorCode, message } = reported;
  return { status, newSha256, versionId, errorCode, message };
}

function changeOutcome(reported: PatchChangeResult | undefined): ChangeOutcome | null {
  if (!reported) return null;
  const { status, errorCode, message } = reported;
  return { status, errorCode, message };
}
