import type { CreateFileResult } from '@patchbay/protocol';

import type { WorkspaceContext } from './create-file.js';
import type { WriteIntent } from './write-log.js';

/** A call that was running when the client died, as the journal has it (a JournalEntry is one). */
export interface InterruptedWrite {
  readonly intents: readonly WriteIntent[];
  readonly committing: boolean;
}

/**
 * - `written`: the file is there; report `result` as if the call had just finished.
 * - `not_written`: nothing happened and nothing stands in the way; execute it (its approval stands), once the server
 *   has answered `resume` for it.
 * - `uncertain`: it may have been written and changed since, or the file is not what it was; never run it again,
 *   report `result` (a failure).
 */
export type Recovery =
  | { outcome: 'written'; result: CreateFileResult }
  | { outcome: 'not_written' }
  | { outcome: 'uncertain'; result: CreateFileResult };

/** Tells what became of an interrupted create and removes its temp file. Idempotent; writes no content. */
export async function recoverCreateFile(
  context: WorkspaceContext,
  interrupted: InterruptedWrite,
): Promise<Recovery> {
  void [context, interrupted];
  throw new Error('not written yet');
}
