import type {
  FilePatch,
  Json,
  PatchChange,
  PatchChangeResult,
  PatchFileResult,
  WritePatchResult,
} from '@patchbay/protocol';

import { ChangeDetails } from './change-details.js';
import type { PatchFileFault } from './patch-file-fault.js';
import type { SelectedBatch, SelectedFile } from './patch-selection.js';

/** The outcome of a file with at least one accepted change. */
export type FileOutcome =
  | { status: 'applied'; newSha256: string; message?: string }
  | { status: 'refused'; fault: PatchFileFault }
  /** `skipped`: valid, but not written because of another file. `rejected`: the accepted changes have no effect. */
  | { status: 'skipped' | 'rejected'; message: string };

/**
 * The result of a batch [PATCH-4], before the upload.
 * @param outcomes by index; none for a file whose changes were all rejected
 */
export function resultOf(
  { batch, files }: SelectedBatch,
  outcomes: ReadonlyMap<number, FileOutcome>,
): WritePatchResult {
  const details = new ChangeDetails();
  const results = files.map((file, index) => fileResult(file, details, outcomes.get(index)));
  const failed = results.some(({ status }) => status === 'conflict' || status === 'failed');
  const { batchId, batchKey, batchLabel } = batch;
  return {
    success: !failed && results.some(({ status }) => status === 'applied'),
    ...{ batchId, batchKey, batchLabel },
    files: results,
  };
}

/** The result of a batch of which the same fault affects all files. */
export function allRefused(selected: SelectedBatch, fault: PatchFileFault): WritePatchResult {
  const wanted = [...selected.files.entries()].filter(([, { effective }]) => effective.changes.length > 0);
  return resultOf(selected, new Map(wanted.map(([index]) => [index, { status: 'refused', fault }])));
}

function fileResult(
  { proposed, effective }: SelectedFile,
  details: ChangeDetails,
  outcome?: FileOutcome,
): PatchFileResult {
  const { filePatchId, fileKey, docPath, originalSha256 } = proposed;
  const kept = new Set(effective.changes.map(({ changeId }) => changeId));
  const ofChange = changeOutcome(effective, details, outcome);
  return {
    ...{ filePatchId, fileKey, docPath },
    ...fileVerdict(outcome),
    originalSha256,
    newSha256: outcome?.status === 'applied' ? outcome.newSha256 : null,
    versionId: null,
    changes: proposed.changes.map((change) =>
      changeResult(change, kept.has(change.changeId) ? ofChange(change) : rejected),
    ),
  };
}

function fileVerdict(outcome?: FileOutcome): Pick<PatchFileResult, 'status' | 'errorCode' | 'message'> {
  if (!outcome) return { status: 'rejected', errorCode: null, message: 'Every change was rejected.' };
  if (outcome.status !== 'refused')
    return { status: outcome.status, errorCode: null, message: outcome.message ?? null };
  const { fault } = outcome;
  const more = fault.faults.length > 1 ? ` (and ${fault.faults.length - 1} more faults, at the changes)` : '';
  return {
    status: fault.isConflict ? 'conflict' : 'failed',
    errorCode: fault.code,
    message: `${fault.message}${more}`,
  };
}

type ChangeVerdict = Pick<PatchChangeResult, 'status' | 'errorCode' | 'message' | 'details'>;
const rejected: ChangeVerdict = { status: 'rejected', errorCode: null, message: null };
const skipped: ChangeVerdict = { status: 'skipped', errorCode: null, message: null };

function changeOutcome(
  effective: FilePatch,
  details: ChangeDetails,
  outcome?: FileOutcome,
): (change: PatchChange) => ChangeVerdict {
  if (outcome?.status === 'applied') return () => ({ status: 'applied', errorCode: null, message: null });
  if (outcome?.status !== 'refused') return () => skipped;
  const { fault } = outcome;
  const byId = new Map<string | undefined, ChangeVerdict>();
  for (const found of fault.faults) {
    const { changeIndex, code, message } = found;
    if (changeIndex === null) continue;
    const verdict: ChangeVerdict = { status: 'failed', errorCode: code, message, ...details.of(found) };
    byId.set(effective.changes[changeIndex]?.changeId, verdict);
  }
  // A fault of the whole file applies to all of its changes. Faults of single changes leave the others skipped.
  if (byId.size === 0) {
    return () => ({ status: 'failed', errorCode: fault.code, message: null, ...details.of(fault.details) });
  }
  return ({ changeId }) => byId.get(changeId) ?? skipped;
}

function changeResult(change: PatchChange, verdict: ChangeVerdict): PatchChangeResult {
  const { changeId, changeKey, operation, description } = change;
  return { changeId: changeId!, changeKey, operation, description, ...verdict };
}

/** TypeScript does not treat an interface as JSON. */
export function toJson(result: WritePatchResult): Json {
  return result as unknown as Json;
}
