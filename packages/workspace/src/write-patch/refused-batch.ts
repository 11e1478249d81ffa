import type { WritePatchResult } from '@patchbay/protocol';
import { toPatchFileFault } from './patch-file-fault.js';
import type { SelectedBatch, SelectedFile } from './patch-selection.js';
import { type FileOutcome, resultOf } from './write-patch-result.js';

const SKIPPED = 'Not written because another file of the batch could not be patched.';

export function outcomeOfFault({ proposed, effective }: SelectedFile, error: unknown): FileOutcome {
  const fault = toPatchFileFault(error);
  const isWhole = effective.changes.length === proposed.changes.length;
  return fault.code === 'NO_CHANGE' && !isWhole ? withoutEffect : { status: 'refused', fault };
}

/** If the accepted changes have no effect, the file has not failed. */
const withoutEffect: FileOutcome = {
  status: 'rejected',
  message: 'The changes that were not rejected leave the file as it is.',
};

/** Files that can be written, by index. */
interface CheckedFiles {
  outcomes: ReadonlyMap<number, FileOutcome>;
  writes: ReadonlyMap<number, unknown>;
  buffers: ReadonlyMap<number, unknown>;
}

/** The result of a batch with a file that cannot be patched: nothing is written. Null if all can. */
export function refusedBatch(
  selected: SelectedBatch,
  { outcomes, writes, buffers }: CheckedFiles,
): WritePatchResult | null {
  if (![...outcomes.values()].some(({ status }) => status === 'refused')) return null;
  const held: FileOutcome = { status: 'skipped', message: SKIPPED };
  return resultOf(
    selected,
    new Map([...[...writes.keys(), ...buffers.keys()].map((index) => [index, held] as const), ...outcomes]),
  );
}
