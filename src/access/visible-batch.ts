import type {
  BatchView,
  ChangeView,
  FilePatch,
  FilePatchView,
  PatchChangeOutcome,
  PatchFileOutcome,
} from '@patchbay/protocol';
import type { Call } from '../storage/ports/turn.js';
import { errorFor, seesArguments, seesResults, type Viewer } from './visible-call.js';

/**
 * A patch batch as its viewer may see it [MEMBER-5]. Its user sees everything. An owner sees proposals, edits and
 * outcomes without the client's texts. Other members see only what was applied.
 */
export function batchFor(viewer: Viewer, view: BatchView, call: Call): BatchView {
  if (seesResults(viewer)) return view;
  const error = errorFor(viewer, call);
  if (seesArguments(viewer)) return { ...view, error, files: view.files.map(withoutReports) };
  return {
    ...{ ...view, ...labelsFor(viewer, view), error, effective: null },
    files: view.files.map((file, at) => appliedOf(file, view.effective?.files[at] ?? null)),
  };
}

/** Key and label of a batch, hidden from viewers who may not see the proposal. */
export function labelsFor<T extends Pick<BatchView, 'batchKey' | 'batchLabel'>>(
  viewer: Viewer,
  { batchKey, batchLabel }: T,
): Pick<BatchView, 'batchKey' | 'batchLabel'> {
  return seesArguments(viewer) ? { batchKey, batchLabel } : { batchKey: null, batchLabel: null };
}

/** Whether the viewer may see the proposal of a file that was not applied. */
export const seesProposals = seesArguments;

function withoutReports(file: FilePatchView): FilePatchView {
  const outcome = file.outcome && { ...file.outcome, message: null };
  const changes = file.changes.map((change): ChangeView => {
    const { status, errorCode } = change.outcome ?? {};
    return {
      ...change,
      outcome: change.outcome && { status: status!, errorCode: errorCode!, message: null },
    };
  });
  return { ...file, outcome, changes };
}

/** @param edited the file as edited before it was applied; null if nobody edited it */
function appliedOf(file: FilePatchView, edited: FilePatch | null): FilePatchView {
  const { filePatchId, docPath, outcome } = file;
  const isApplied = outcome?.status === 'applied';
  return {
    ...{ ...(filePatchId !== undefined && { filePatchId }), docPath, fileKey: null, fileLabel: null },
    originalSha256: isApplied ? (edited ?? file).originalSha256 : null,
    outcome: outcome && fileOutcome(outcome, isApplied),
    changes: file.changes.map((change, at): ChangeView => {
      const outcome = change.outcome && statusOf(change.outcome);
      if (isApplied && outcome?.status === 'applied') return { ...change, ...edited?.changes[at], outcome };
      return { changeId: change.changeId!, operation: null, outcome };
    }),
  };
}

function fileOutcome(
  { status, newSha256, versionId }: PatchFileOutcome,
  isApplied: boolean,
): PatchFileOutcome {
  const written = isApplied ? { newSha256, versionId } : { newSha256: null, versionId: null };
  return { status, ...written, errorCode: null, message: null };
}

function statusOf({ status }: PatchChangeOutcome): PatchChangeOutcome {
  return { status, errorCode: null, message: null };
}
