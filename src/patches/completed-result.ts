import type {
  FilePatch,
  PatchBatch,
  PatchChange,
  PatchChangeDetails,
  PatchChangeReport,
  PatchChangeResult,
  PatchFileReport,
  PatchFileResult,
  WritePatchReport,
  WritePatchResult,
} from '@patchbay/protocol';
import { yieldIfBusy } from '../common/yield-if-busy.js';

/** Completes a report with what its client omitted, from the batch [PATCH-14]. Ids must be those of the batch. */
export async function completedResult(
  { batchKey, batchLabel, files: proposed }: PatchBatch,
  report: WritePatchReport,
): Promise<WritePatchResult> {
  const files: PatchFileResult[] = [];
  for (const [at, file] of report.files.entries()) {
    await yieldIfBusy();
    files.push(completedFile(proposed[at]!, file));
  }
  return {
    ...{ success: report.success, batchId: report.batchId },
    batchKey: report.batchKey ?? batchKey,
    batchLabel: report.batchLabel ?? batchLabel,
    files,
  };
}

function completedFile(proposed: FilePatch, file: PatchFileReport): PatchFileResult {
  return {
    filePatchId: file.filePatchId,
    fileKey: file.fileKey ?? proposed.fileKey,
    docPath: file.docPath ?? proposed.docPath,
    status: file.status,
    originalSha256: file.originalSha256 ?? proposed.originalSha256,
    newSha256: file.newSha256 ?? null,
    versionId: file.versionId ?? null,
    errorCode: file.errorCode ?? null,
    message: file.message ?? null,
    changes: file.changes.map((change, at) => completedChange(proposed.changes[at]!, change)),
  };
}

function completedChange(proposed: PatchChange, change: PatchChangeReport): PatchChangeResult {
  const details = withoutNulls(change.details ?? {});
  return {
    changeId: change.changeId,
    changeKey: change.changeKey ?? proposed.changeKey,
    operation: change.operation ?? proposed.operation,
    description: change.description ?? proposed.description,
    status: change.status,
    errorCode: change.errorCode ?? null,
    message: change.message ?? null,
    ...(Object.keys(details).length > 0 && { details }),
  };
}

function withoutNulls(details: PatchChangeDetails): PatchChangeDetails {
  return Object.fromEntries(Object.entries(details).filter(([, value]) => value !== null));
}
