import type { CreateFileResult } from '@patchbay/protocol';

import type { WorkspaceRoots } from './workspace-roots.js';
import type { WriteLog } from './write-log.js';

/** Largest file that is written or read, in bytes; PATCHBAY_MAX_FILE_BYTES sets another. */
export const DEFAULT_MAX_FILE_BYTES = 8 * 1024 * 1024;

/** What the executor needs to know about this client. */
export interface WorkspaceContext {
  readonly roots: WorkspaceRoots;
  readonly maxFileBytes?: number;
}

/**
 * Executes `workspace_create_file` (TUL-004 sections 3.3 and 5) and never throws: what goes wrong is in the result.
 * `args` are the call's arguments as they came, or as a person edited them. Give `journal.writeLog(callId)` as `log`,
 * else a kill in the middle leaves its temp file behind.
 */
export async function executeCreateFile(
  context: WorkspaceContext,
  args: unknown,
  log?: WriteLog,
): Promise<CreateFileResult> {
  void [context, args, log];
  throw new Error('not written yet');
}
