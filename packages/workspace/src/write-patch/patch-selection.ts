import type { Approval, FilePatch, PatchBatch } from '@patchbay/protocol';
import { parsePatchBatch } from '@patchbay/protocol/line-patch';

/** A file of a batch as proposed and as it will be applied. */
export interface SelectedFile {
  readonly proposed: FilePatch & { filePatchId: string };
  /** Without rejected changes, and as edited. Without any change, the file is rejected. */
  readonly effective: FilePatch;
}

/** A batch with the user's decision applied. */
export interface SelectedBatch {
  readonly batch: PatchBatch & { batchId: string };
  readonly files: readonly SelectedFile[];
}

/**
 * Applies the user's decision to a batch: leaves out changes that were rejected or removed by an edit. All line
 * numbers refer to the original file, so the other changes are not shifted.
 * @param input the batch of a delivery, with the server's ids
 * @throws Error for a batch that is invalid, has no ids, or was edited to have other files or changes
 */
export function selectBatch(input: PatchBatch, approval: Approval | null = null): SelectedBatch {
  const batch = parseOwn(input, 'The batch of the delivery');
  const edited =
    approval?.decision === 'edit' && approval.editedArguments
      ? parseOwn({ ...approval.editedArguments, batchId: batch.batchId }, 'The edited batch')
      : batch;
  const rejected = new Set(approval?.decision === 'deny' ? allChangeIds(batch) : approval?.rejectedChangeIds);
  const byId = new Map(edited.files.map((file) => [file.filePatchId, file]));
  const files = batch.files.map((proposed) => {
    const file = byId.get(proposed.filePatchId);
    byId.delete(proposed.filePatchId);
    if (file) checkSameChanges(proposed, file);
    const changes = file?.changes.filter(({ changeId }) => !rejected.has(changeId!)) ?? [];
    return { proposed, effective: { ...proposed, changes } };
  });
  if (byId.size > 0) throw new Error('The edited batch has a file that the proposed one does not have.');
  return { batch, files };
}

export function rejectedChangeIds({ files }: SelectedBatch): string[] {
  return files.flatMap(({ proposed, effective }) => {
    const kept = new Set(effective.changes.map(({ changeId }) => changeId));
    return proposed.changes.map(({ changeId }) => changeId!).filter((changeId) => !kept.has(changeId));
  });
}

/** An approval without any accepted change is a denial [PATCH-9]. */
export function denyIfAllRejected(batch: PatchBatch, approval: Approval): Approval {
  if (approval.decision === 'deny') return approval;
  const rejected = rejectedChangeIds(selectBatch(batch, approval));
  const total = batch.files.reduce((sum, { changes }) => sum + changes.length, 0);
  if (rejected.length < total) return approval;
  const { by, at, note } = approval;
  return { decision: 'deny', by, at, ...(note && { note }) };
}

type OwnBatch = Omit<PatchBatch, 'files'> & { batchId: string; files: SelectedFile['proposed'][] };

/** The server has validated the batch, but a client checks all input before it writes to disk. */
function parseOwn(input: unknown, what: string): OwnBatch {
  const parsed = parsePatchBatch(input, { trusted: true });
  if (!parsed.ok) throw new Error(`${what} is not sound: ${parsed.faults[0]?.message ?? 'no reason given'}`);
  const { batch } = parsed;
  const ids = [batch.batchId, ...batch.files.map(({ filePatchId }) => filePatchId), ...allChangeIds(batch)];
  if (ids.some((id) => id === undefined)) throw new Error(`${what} lacks ids of the server.`);
  return batch as OwnBatch;
}

function allChangeIds({ files }: PatchBatch): string[] {
  return files.flatMap(({ changes }) => changes.map(({ changeId }) => changeId!));
}

function checkSameChanges(proposed: FilePatch, edited: FilePatch): void {
  const known = new Set(proposed.changes.map(({ changeId }) => changeId));
  const same =
    edited.docPath === proposed.docPath &&
    edited.originalSha256 === proposed.originalSha256 &&
    edited.changes.every(({ changeId }) => known.delete(changeId));
  if (!same) throw new Error('The edited batch is of other files or changes than the proposed one.');
}
