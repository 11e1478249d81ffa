import type { PatchBatch } from '@patchbay/protocol';

/**
 * The state of the Cloud file that the upload of a patched file expects: the head when the server accepted the batch,
 * or, without a versionId, the folder's text that the patch was planned on. Null: no such Cloud file.
 */
export interface PatchBase {
  versionId: string | null;
  sha256: string;
}

/** A proposed patch batch with the ids of the server. Immutable: its outcome is the result of its call. */
export interface PatchBatchRecord {
  batchId: string;
  workspaceId: string;
  sessionId: string;
  turnId: string;
  callId: string;
  userId: string;
  createdAt: number;
  /** The batch that this one reverts. */
  revertOf: string | null;
  /** As parsed, including batchId, filePatchId and changeId. */
  batch: PatchBatch;
  /** For each file of the batch, in order. */
  bases: (PatchBase | null)[];
}

/** Patch batches, written once, moments before the turn that refers to them. Writes are idempotent. */
export abstract class PatchStore {
  abstract insert(record: PatchBatchRecord): Promise<void>;
  abstract byId(workspaceId: string, batchId: string): Promise<PatchBatchRecord | null>;
  /** docPaths of a batch's files, in order; empty for an unknown batch. */
  abstract docPathsOf(workspaceId: string, batchId: string): Promise<string[]>;
  abstract ofFilePatch(workspaceId: string, filePatchId: string): Promise<PatchBatchRecord | null>;
  abstract ofChange(workspaceId: string, changeId: string): Promise<PatchBatchRecord | null>;
  /** Removes a batch whose turn was not stored. */
  abstract remove(workspaceId: string, batchId: string): Promise<void>;
  /**
   * Checks up to `limit` unchecked batches created before `before` (epoch ms), and removes those whose turn was never
   * stored because of a crash. True if there may be more.
   */
  abstract removeOrphans(before: number, limit: number): Promise<boolean>;
}
