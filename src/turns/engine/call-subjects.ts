import { createFile, type Json } from '@patchbay/protocol';
import type { UserFolders } from '../../clients/user-folders.js';
import { auditPath, pathsFields } from '../../common/audit-path.js';
import type { PatchBatchRecord } from '../../storage/ports/patches.store.js';
import type { CallSubject } from '../../storage/ports/turn.js';

/** A create may leave out the name of its folder where there is one alone. */
export function placeOf(name: string, args: Json, { sole }: UserFolders): { docPath?: string } {
  const { path } = (typeof args === 'object' && !Array.isArray(args) && args) || {};
  if (name !== createFile.name || sole === null || typeof path !== 'string') return {};
  return { docPath: `${sole}/${auditPath(path)}` };
}

/** What the audit trail says of a batch: which one, where, and how much is in it. */
export function batchSubject({ batchId, revertOf, batch: { files } }: PatchBatchRecord): CallSubject {
  return {
    batchId,
    ...(revertOf !== null && { revertOf }),
    ...pathsFields(files.map(({ docPath }) => docPath)),
    files: files.length,
    changes: files.reduce((sum, { changes }) => sum + changes.length, 0),
  };
}
