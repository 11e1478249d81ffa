import type { PatchBatch } from '@patchbay/protocol';

/**
 * What the upload of a patched file must find in the Cloud: the head as the server knew it when it took the batch, or
 * without a versionId the text of the folder that the patch was planned on. Null: the Cloud had no such file.
 */
export interface PatchBase {
  versionId: string | null;
  sha256: string;
}

/**
 * A patch batch as it was proposed, with the ids that the server gave. It never changes: what became of it is the result
 * of its call, which the turn holds.
 */
export interface PatchBatchRecord {
  batchId: string;
  workspaceId: string;
  sessionId: string;
  turnId: string;
  callId: string;
  userId: string;
  createdAt: number;
  /** The batch that this one undoes. */
  revertOf: string | null;
  /** As parsed, batchId, filePatchId and changeId included. */
  batch: PatchBatch;
  /** For each file of the batch, in its order. */
  bases: (PatchBase | null)[];
}

/**
 * Patch batches, written once, before the turn that refers to them: it does so within moments, or never. A write that is
 * sent again changes nothing more.
 */
export abstract class PatchStore {
  abstract insert(record: PatchBatchRecord): Promise<void>;
  abstract byId(workspaceId: string, batchId: string): Promise<PatchBatchRecord | null>;
  /** docPaths of the files of a batch, in its order; none where there is no such batch. */
  abstract docPathsOf(workspaceId: string, batchId: string): Promise<string[]>;
  abstract ofFilePatch(workspaceId: string, filePatchId: string): Promise<PatchBatchRecord | null>;
  abstract ofChange(workspaceId: string, changeId: string): Promise<PatchBatchRecord | null>;
  /** Drops a batch whose turn was not stored after all. */
  abstract remove(workspaceId: string, batchId: string): Promise<void>;
  /**
   * Looks at up to `limit` batches made before `before` (epoch ms) that it has not looked at yet, and drops those whose
   * turn was never stored: what a crash in between leaves. True where there may be more.
   */
  abstract removeOrphans(before: number, limit: number): Promise<boolean>;
}
