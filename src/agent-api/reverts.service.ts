import { Injectable } from '@nestjs/common';
import {
  type FilePatch,
  type InvokeResult,
  type Json,
  type PatchBatch,
  type PatchFileResult,
  type TurnResult,
  writePatch,
} from '@patchbay/protocol';
import type { InvertedFile } from '@patchbay/protocol/line-patch';
import { releaseBody } from '../bodies/held-bodies.js';
import { labelsFor } from '../access/visible-batch.js';
import { newId } from '../common/ids.js';
import { DomainError, type FieldFaults } from '../common/domain-error.js';
import type { ResponseHandle } from '../common/http/response-closed.js';
import { yieldIfBusy } from '../common/yield-if-busy.js';
import { BaseTexts, type MadeOn } from '../patches/base-texts.js';
import { CloudTexts } from '../patches/cloud-texts.js';
import { INVERT_PATCHES, loadOf } from '../patches/patch-jobs.js';
import { appliedPart } from '../patches/patch-reconciliation.js';
import { type KnownBatch, PatchesService } from '../patches/patches.service.js';
import { newCall } from '../turns/intake/tool-call-forms.js';
import { TurnAnswers } from './turn-answers.js';
import { TurnEngine } from '../turns/engine/turn-engine.js';
import { UserJobs } from '../jobs/user-jobs.js';
import { WorkPool } from '../jobs/work-pool.js';
import type { RevertDto } from './reverts.dto.js';

/** Files that an error or the warnings name. */
const MAX_NAMED = 100;

/** Code of the warning for a file that is not reverted. */
const LEFT_OUT = 'LEFT_OUT';

type Warning = InvokeResult<TurnResult>['warnings'][number];

/** A file of the batch that can not be reverted, and why. */
interface LeftOut {
  docPath: string;
  why: string;
  /** sha256 of the Cloud head; null if there is none. */
  currentSha256: string | null;
}

/** An applied file of the batch: its patch, and what the client reported. */
interface AppliedFile {
  patch: FilePatch;
  reported: PatchFileResult;
}

/** Reverts batches: builds the inverse and runs it like any other patch. */
@Injectable()
export class RevertsService {
  constructor(
    private readonly patches: PatchesService,
    private readonly texts: CloudTexts,
    private readonly baseTexts: BaseTexts,
    private readonly pool: WorkPool,
    private readonly jobs: UserJobs,
    private readonly turns: TurnEngine,
    private readonly answers: TurnAnswers,
  ) {}

  /**
   * Posts a turn with the inverse of the applied changes. CONFLICT if nothing was applied. STALE, naming every changed
   * file, unless `allowPartial` is set; then each such file gives a warning.
   * @param response the response that the answer is sent with
   */
  async revert(
    workspaceId: string,
    batchId: string,
    userId: string,
    { sessionId, allowPartial, waitMs }: RevertDto,
    response: ResponseHandle,
  ): Promise<InvokeResult<TurnResult>> {
    const known = await this.patches.require({ workspaceId, userId }, batchId);
    const applied = appliedFiles(known);
    if (applied.length === 0)
      throw new DomainError('CONFLICT', 'Nothing of this batch was applied, so there is nothing to undo.');
    const { files, leftOut } = await this.jobs.run(userId, () =>
      this.invertAll(workspaceId, userId, applied),
    );
    if (files.length === 0 || (leftOut.length > 0 && !allowPartial)) throw refusal(leftOut);
    const batch = inverseBatch(labelsFor(known.viewer, known.record.batch), files);
    const toolCalls = [newCall(newId(), writePatch.name, batch as unknown as Json)];
    const request = { toolCalls, ...(waitMs !== undefined && { waitMs }) };
    const turn = await this.turns.accept(workspaceId, sessionId, userId, request, {
      revertOf: batchId,
      onStored: () => releaseBody(response),
    });
    const answer = await this.answers.of(turn, response);
    return { ...answer, warnings: [...warningsOf(leftOut), ...answer.warnings] };
  }

  private async invertAll(
    workspaceId: string,
    userId: string,
    applied: readonly AppliedFile[],
  ): Promise<{ files: FilePatch[]; leftOut: LeftOut[] }> {
    const inverses = new Map<AppliedFile, FilePatch>();
    const reasons = new Map<AppliedFile, string>();
    const heads = new Map<AppliedFile, string | null>();
    const wanted: MadeOn<AppliedFile>[] = [];
    for (const file of applied) {
      await yieldIfBusy();
      const head = await this.texts.head(workspaceId, file.patch.docPath);
      heads.set(file, head?.sha256 ?? null);
      const hasMoved = head !== null && head.sha256 !== file.reported.newSha256;
      if (hasMoved) reasons.set(file, `has changed since (its sha256 is now ${head.sha256})`);
      else wanted.push({ sha256: file.patch.originalSha256, item: file });
    }
    for await (const { bytes, items, isBeyondBudget } of this.baseTexts.each(workspaceId, wanted)) {
      if (isBeyondBudget) throw this.baseTexts.tooMuch();
      const inverted = bytes === null ? null : await this.invert(userId, bytes, items);
      for (const [at, file] of items.entries()) {
        const inverse = inverted?.[at];
        if (inverse === undefined) reasons.set(file, 'was patched on a text that is not in the Cloud');
        else if (inverse.ok) inverses.set(file, inverse.patch);
        else reasons.set(file, inverse.faults[0]!.message);
      }
    }
    const leftOut = applied.flatMap((file) => {
      const why = reasons.get(file);
      if (why === undefined) return [];
      return [{ docPath: file.patch.docPath, why, currentSha256: heads.get(file) ?? null }];
    });
    return { files: applied.flatMap((file) => inverses.get(file) ?? []), leftOut };
  }

  private invert(userId: string, bytes: Uint8Array, files: readonly AppliedFile[]): Promise<InvertedFile[]> {
    const patches = files.map(({ patch, reported }) => ({ patch, newSha256: reported.newSha256! }));
    const load = loadOf(
      bytes,
      files.map(({ patch }) => patch),
    );
    return this.pool.run(userId, INVERT_PATCHES, { bytes, patches }, load);
  }
}

/** The error that names the first files that can not be reverted, and counts the rest. */
function refusal(leftOut: readonly LeftOut[]): DomainError {
  const named = leftOut.slice(0, MAX_NAMED);
  const list = named.map(({ docPath, why }) => `${docPath} ${why}`).join('; ');
  const more = leftOut.length > named.length ? ` (and ${leftOut.length - named.length} more)` : '';
  const fields: FieldFaults = Object.fromEntries(named.map(({ docPath, why }) => [docPath, why]));
  return new DomainError('STALE', `The batch cannot be undone: ${list}${more}`, { fields });
}

/** One warning per file that is not reverted, with its current sha256. */
function warningsOf(leftOut: readonly LeftOut[]): Warning[] {
  const warnings = leftOut.slice(0, MAX_NAMED).map(({ docPath, why, currentSha256 }): Warning => {
    return {
      ...{ errorCode: LEFT_OUT, message: `${docPath} is not undone: it ${why}` },
      details: { docPath, currentSha256 },
    };
  });
  const more = leftOut.length - warnings.length;
  if (more > 0) warnings.push({ errorCode: LEFT_OUT, message: `${more} more files are not undone.` });
  return warnings;
}

function appliedFiles({ record, outcome }: KnownBatch): AppliedFile[] {
  const { files } = outcome.effective ?? record.batch;
  return files.flatMap((file, at) => {
    const reported = outcome.result?.files[at];
    return reported?.status === 'applied' ? [{ patch: appliedPart(file, reported), reported }] : [];
  });
}

function inverseBatch(
  { batchLabel, batchKey }: Pick<PatchBatch, 'batchKey' | 'batchLabel'>,
  files: FilePatch[],
): PatchBatch {
  return { batchKey: null, batchLabel: `Revert: ${batchLabel ?? batchKey ?? 'patch batch'}`, files };
}
