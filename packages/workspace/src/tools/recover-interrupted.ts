import type { Journal } from '@patchbay/client/relay';
import { createFile, type CreateFileResult } from '@patchbay/protocol';

import type { WorkspaceContext } from '../disk/workspace-context.js';
import { recoverCreateFile } from '../create-file/recover-create-file.js';
import { removeTempFiles } from '../disk/temp-files.js';

/**
 * Settles the creates that were running when the last process of this client died, and removes their temp files.
 * Call it between `Journal.open` and the first connection. What was written is finished with its result, what may not
 * be run again with a failure; what certainly did not happen stays `running`: run it, with the approval that the entry
 * has, once the server has answered `resume` for it. Other tools' calls are left alone.
 */
export async function recoverInterrupted(journal: Journal, context: WorkspaceContext): Promise<void> {
  for (const entry of journal.all()) {
    if (entry.state === 'finished') await removeTempFiles(context, entry.intents);
    if (entry.state !== 'running' || entry.call?.name !== createFile.name) continue;
    const recovery = await recoverCreateFile(context, entry);
    if (recovery.outcome === 'not_written') {
      await journal.rollBack(entry.callId);
    } else {
      const result: CreateFileResult = recovery.result;
      await journal.finish(entry.callId, {
        result: { ...result },
        approval: entry.approval,
        executionMs: null,
      });
    }
    await removeTempFiles(context, entry.intents);
  }
}
