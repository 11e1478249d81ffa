import { Injectable } from '@nestjs/common';
import {
  type FilePatch,
  type InvokeResult,
  type Json,
  type PatchBatch,
  type PatchFileResult,
  type TurnEnvelope,
  writePatch,
} from '@patchbay/protocol';
import { invertFilePatch } from '@patchbay/protocol/line-patch';
import { newId } from '../common/ids.js';
import { DomainError, type FieldFaults } from '../common/domain-error.js';
import { CloudTexts } from '../patches/cloud-texts.js';
import { appliedPart } from '../patches/patch-reconciliation.js';
import { type KnownBatch, PatchesService } from '../patches/patches.service.js';
import { newCall } from '../turns/tool-call-forms.js';
import { TurnsService } from '../turns/turns.service.js';
import type { RevertDto } from './reverts.dto.js';

/** A file of the batch that was applied: as it was patched, and what the client reported. */
interface AppliedFile {
  patch: FilePatch;
  reported: PatchFileResult;
}

/** Undoes batches: makes the inverse and has it executed like any other patch. */
@Injectable()
export class RevertsService {
  constructor(
    private readonly patches: PatchesService,
    private readonly texts: CloudTexts,
    private readonly turns: TurnsService,
  ) {}

  /**
   * Posts a turn with the inverse of what was applied. CONFLICT where nothing was; STALE, with every file that has moved
   * on, where `allowPartial` is not given.
   */
  async revert(
    workspaceId: string,
    batchId: string,
    userId: string,
    { sessionId, allowPartial, waitMs }: RevertDto,
  ): Promise<InvokeResult<TurnEnvelope>> {
    const known = await this.patches.require(workspaceId, batchId);
    const applied = appliedFiles(known);
    if (applied.length === 0)
      throw new DomainError('CONFLICT', 'Nothing of this batch was applied, so there is nothing to undo.');
    const { files, refused } = await this.invertAll(workspaceId, applied);
    if (files.length === 0 || (Object.keys(refused).length > 0 && !allowPartial)) {
      const which = Object.entries(refused).map(([docPath, why]) => `${docPath} ${why}`);
      throw new DomainError('STALE', `The batch can not be undone: ${which.join('; ')}`, { fields: refused });
    }
    const batch = inverseBatch(known.record.batch, files);
    const toolCalls = [newCall(newId(), writePatch.name, batch as unknown as Json)];
    const request = { toolCalls, ...(waitMs !== undefined && { waitMs }) };
    return this.turns.post(workspaceId, sessionId, userId, request, null, batchId);
  }

  private async invertAll(
    workspaceId: string,
    applied: AppliedFile[],
  ): Promise<{ files: FilePatch[]; refused: FieldFaults }> {
    const files: FilePatch[] = [];
    const refused: FieldFaults = {};
    for (const file of applied) {
      const inverse = await this.invert(workspaceId, file);
      if (typeof inverse === 'string') refused[file.patch.docPath] = inverse;
      else files.push(inverse);
    }
    return { files, refused };
  }

  /** The inverse of one file's patch, or why there is none. */
  private async invert(workspaceId: string, { patch, reported }: AppliedFile): Promise<FilePatch | string> {
    const newSha256 = reported.newSha256!;
    const head = await this.texts.head(workspaceId, patch.docPath);
    if (head && head.sha256 !== newSha256) return `has moved on since (it has sha256 ${head.sha256} now)`;
    const original = await this.texts.bytes(workspaceId, patch.originalSha256);
    if (!original) return 'was patched on a text that is not in the Cloud';
    const inverted = invertFilePatch(original, patch, newSha256);
    return inverted.ok ? inverted.patch : inverted.faults[0]!.message;
  }
}

function appliedFiles({ record, outcome }: KnownBatch): AppliedFile[] {
  const { files } = outcome.effective ?? record.batch;
  return files.flatMap((file, at) => {
    const reported = outcome.result?.files[at];
    return reported?.status === 'applied' ? [{ patch: appliedPart(file, reported), reported }] : [];
  });
}

function inverseBatch({ batchLabel, batchKey }: PatchBatch, files: FilePatch[]): PatchBatch {
  return { batchKey: null, batchLabel: `Revert: ${batchLabel ?? batchKey ?? 'patch batch'}`, files };
}
