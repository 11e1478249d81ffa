import type { Journal } from '@patchbay/client/relay';
import { writePatch } from '@patchbay/protocol';

import type { WorkspaceContext } from '../disk/workspace-context.js';
import { removeTempFiles } from '../disk/temp-files.js';
import { recoverWritePatch } from '../write-patch/recover-write-patch.js';
import { toJson } from '../write-patch/write-patch-result.js';

/**
 * Settles the patch batches that were running when the last process of this client died: each is then written as a
 * whole or not at all. Call it between `Journal.open` and the first connection. What failed is finished with its result.
 * What was written stays `running`, since its files are still to be uploaded, and so does what certainly did not happen:
 * `recoverWritePatch` tells the two apart again, once the server has answered `resume` for the call.
 */
export async function recoverInterruptedPatches(journal: Journal, context: WorkspaceContext): Promise<void> {
  for (const entry of journal.all()) {
    const { callId, call, approval, intents } = entry;
    if (entry.state !== 'running' || call?.name !== writePatch.name || !call.batch) continue;
    const recovery = await recoverWritePatch(context, call.batch, entry, journal.writeLog(callId));
    if (recovery.outcome === 'not_written') {
      await journal.rollBack(callId);
    } else if (!recovery.result.success) {
      await journal.finish(callId, { result: toJson(recovery.result), approval, executionMs: null });
    }
    await removeTempFiles(context, intents);
  }
}
