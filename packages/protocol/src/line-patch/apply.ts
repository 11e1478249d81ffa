import { type FilePatch, type PatchFaults } from '../patch-batch.js';
import { FaultList } from './faults.js';
import { planFilePatch } from './plan.js';

/** The new bytes of a file, or all faults of its patch. */
export type AppliedFile = { ok: true; bytes: Uint8Array } | ({ ok: false } & PatchFaults);

/**
 * Checks a parsed file patch against the authoritative bytes: NOT_TEXT, RANGE_BEYOND_END, LINES_MISMATCH, NO_CHANGE.
 * The caller has already compared `originalSha256` (STALE). Matching is never fuzzy.
 * @param original raw bytes of the file, including a byte order mark.
 * @param fileIndex index of the patch in its batch, for the faults.
 * @returns every fault; with an empty list `applyFilePatch` succeeds.
 */
export function checkFilePatch(original: Uint8Array, patch: FilePatch, fileIndex = 0): PatchFaults {
  const faults = new FaultList();
  planFilePatch(original, patch, fileIndex, faults);
  return faults.result();
}

/**
 * Applies a parsed file patch [LINE-1] [LINE-4]. Linear in file size and number of changes; bytes outside the ranges
 * are copied unchanged.
 * @param original raw bytes of the file, including a byte order mark; not modified.
 * @param patch from `parsePatchBatch`, or a part of it from `selectChanges`.
 * @param fileIndex index of the patch in its batch, for the faults.
 */
export function applyFilePatch(original: Uint8Array, patch: FilePatch, fileIndex = 0): AppliedFile {
  const faults = new FaultList();
  const plan = planFilePatch(original, patch, fileIndex, faults);
  if (faults.count > 0) return { ok: false, ...faults.result() };
  return { ok: true, bytes: plan.pieces.toBytes() };
}

/**
 * The patch without the changes that a person rejected. The others keep their line numbers, which refer to the
 * original file. The result may be empty or change nothing (NO_CHANGE): check before applying.
 * @param keep whether to keep the change with this index in `patch.changes`.
 */
export function selectChanges(patch: FilePatch, keep: (changeIndex: number) => boolean): FilePatch {
  return { ...patch, changes: patch.changes.filter((_change, changeIndex) => keep(changeIndex)) };
}
