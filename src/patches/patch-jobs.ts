import type { FilePatch, PatchFaults } from '@patchbay/protocol';
import { sha256 } from '@patchbay/protocol/hash';
import {
  applyFilePatch,
  checkFilePatch,
  FaultList,
  invertFilePatch,
  type InvertedFile,
  unifiedDiff,
} from '@patchbay/protocol/line-patch';
import { DomainError } from '../common/domain-error.js';
import { defineJob, weighed } from '../jobs/job.js';
import type { Load } from '../jobs/work-pool.js';

/** A file of a batch, and its index in it. */
export interface IndexedPatch {
  patch: FilePatch;
  fileIndex: number;
}

/** Patches to check against a text, or only against the sha256 of a missing text. */
export interface Inspection {
  bytes: Uint8Array | null;
  /** The current sha256 of these files. */
  currentSha256: string;
  source: 'Active file' | 'Cloud file';
  patches: IndexedPatch[];
}

/** Checks patches against the text that they must be based on [PATCH-2]. */
export const INSPECT_PATCHES = defineJob('patches.inspect', (input: Inspection): PatchFaults => {
  const faults = new FaultList();
  for (const patch of input.patches) inspect(input, patch, faults);
  return faults.result();
});

/** sha256 of each patch's result; null if it does not apply. */
export const APPLY_PATCHES = defineJob(
  'patches.apply',
  ({ bytes, patches }: { bytes: Uint8Array; patches: FilePatch[] }): (string | null)[] =>
    patches.map((patch) => {
      const applied = applyFilePatch(bytes, patch);
      return applied.ok ? sha256(applied.bytes) : null;
    }),
);

/** The inverses of applied patches, each with the sha256 of its result. */
export const INVERT_PATCHES = defineJob(
  'patches.invert',
  ({ bytes, patches }: { bytes: Uint8Array; patches: { patch: FilePatch; newSha256: string }[] }) =>
    patches.map(({ patch, newSha256 }): InvertedFile => invertFilePatch(bytes, patch, newSha256)),
);

const DIFF_TOO_LARGE = 'The diff of the whole batch is too large; ask for one file of it with filePatchId.';

/** Unified diffs of patches, each with its file's path, within a total size; CONFLICT if one does not apply. */
export const DIFF_PATCHES = defineJob(
  'patches.diff',
  ({
    bytes,
    patches,
    maxBytes,
  }: {
    bytes: Uint8Array;
    patches: { patch: FilePatch; path: string }[];
    maxBytes: number;
  }): Uint8Array[] => {
    let left = maxBytes;
    return patches.map(({ patch, path }) => {
      const rendered = unifiedDiff(bytes, patch, path);
      if (!rendered.ok) throw new DomainError('CONFLICT', `${patch.docPath}: ${rendered.faults[0]!.message}`);
      const diff = Buffer.from(rendered.diff);
      left -= diff.length;
      if (left < 0) throw new DomainError('TOO_LARGE', DIFF_TOO_LARGE);
      return diff;
    });
  },
);

/** About this many mismatching changes cost one pass over the text, since each is searched in all of it. */
const CHANGES_PER_PASS = 8;

/** The load of patching a text; each patch passes over the text. */
export function loadOf(bytes: Uint8Array | null, patches: readonly FilePatch[]): Load {
  const size = bytes?.length ?? 0;
  const chars = patches.reduce((sum, patch) => sum + sizeOf(patch), 0);
  const passes = patches.reduce((sum, { changes }) => sum + Math.ceil(changes.length / CHANGES_PER_PASS), 0);
  return weighed(size + chars, size * passes + chars);
}

function sizeOf({ changes }: FilePatch): number {
  let size = 0;
  for (const change of changes) {
    if (change.operation !== 'insert') size += charsOf(change.expectedOriginalLines);
    if (change.operation !== 'delete') size += charsOf(change.newLines);
  }
  return size;
}

function charsOf(lines: readonly string[]): number {
  return lines.reduce((sum, { length }) => sum + length + 1, 0);
}

/** A wrong sha256 means stale; with the right one, differing lines are the model's mistake. */
function inspect(
  { bytes, currentSha256, source }: Inspection,
  { patch, fileIndex }: IndexedPatch,
  faults: FaultList,
): void {
  const lines = bytes === null ? NONE : checkFilePatch(bytes, patch, fileIndex);
  const { originalSha256, fileKey, docPath } = patch;
  if (currentSha256 !== originalSha256) {
    const advice =
      bytes !== null && lines.faults.length === 0
        ? 'All expected lines are unchanged: send the batch again with this sha256, if the change is still wanted.'
        : 'Read the file again and plan the change on its present text.';
    const message = `The ${source} has sha256 ${currentSha256} now, the patch was planned on ${originalSha256}. ${advice}`;
    faults.add(
      { fileIndex, fileKey, docPath },
      'STALE',
      () => message,
      () => ({ currentSha256 }),
    );
  }
  faults.append(lines);
}

const NONE: PatchFaults = { faults: [], moreFaults: 0 };
