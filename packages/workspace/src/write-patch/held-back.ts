import type { WritePatchResult } from '@patchbay/protocol';
import { toPatchFileFault } from './patch-file-fault.js';
import type { SelectedBatch, SelectedFile } from './patch-selection.js';
import { type FileOutcome, resultOf } from './write-patch-result.js';

const HELD_BACK = 'Held back because another file of the batch could not be patched.';

/** What becomes of a file that cannot be patched. */
export function outcomeOfFault({ proposed, effective }: SelectedFile, error: unknown): FileOutcome {
  const fault = toPatchFileFault(error);
  const isWhole = effective.changes.length === proposed.changes.length;
  return fault.code === 'NO_CHANGE' && !isWhole ? nothingLeft : { status: 'refused', fault };
}

/** A single change may change nothing; a file of which only such ones were accepted is no failure. */
const nothingLeft: FileOutcome = {
  status: 'rejected',
  message: 'The changes that were not rejected leave the file as it is.',
};

/** What `heldBack` asks of a checked batch: which files are sound, by index. */
interface HeldBatch {
  outcomes: ReadonlyMap<number, FileOutcome>;
  writes: ReadonlyMap<number, unknown>;
  buffers: ReadonlyMap<number, unknown>;
}

/** The result of a batch with a file that cannot be patched: nothing of it is to be written. Null where all can. */
export function heldBack(
  selected: SelectedBatch,
  { outcomes, writes, buffers }: HeldBatch,
): WritePatchResult | null {
  if (![...outcomes.values()].some(({ status }) => status === 'refused')) return null;
  const held: FileOutcome = { status: 'skipped', message: HELD_BACK };
  return resultOf(
    selected,
    new Map([...[...writes.keys(), ...buffers.keys()].map((index) => [index, held] as const), ...outcomes]),
  );
}
