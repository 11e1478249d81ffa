import type { FilePatch, PatchBatch, PatchChange } from './patch-batch.js';
import type { PatchChangeResult, PatchFileResult } from './tools/patch-result.js';
import type { CallStatus, ToolCallError } from './turns.js';

/** What became of a file, without the ids that stand beside it. */
export type PatchFileOutcome = Pick<
  PatchFileResult,
  'status' | 'newSha256' | 'versionId' | 'errorCode' | 'message'
>;
/** What became of a change, without the ids that stand beside it. */
export type PatchChangeOutcome = Pick<PatchChangeResult, 'status' | 'errorCode' | 'message' | 'details'>;

/** A change that was not applied, for a member who is neither the user of the batch nor an owner: its id and status. */
export interface WithheldChange {
  changeId: string;
  operation: null;
}

/**
 * A change as proposed, and what became of it; null while that is open. `operation` is null where its lines are withheld.
 */
export type ChangeView = (PatchChange | WithheldChange) & { outcome: PatchChangeOutcome | null };
/**
 * The changes of one file as proposed, and what became of it; null while that is open. `originalSha256` is null where it
 * is withheld, as are keys and labels.
 */
export type FilePatchView = Omit<FilePatch, 'changes' | 'originalSha256'> & {
  originalSha256: string | null;
  changes: ChangeView[];
  outcome: PatchFileOutcome | null;
};

/**
 * Answer to `GET …/patches/:batchId`: a batch with its ids, who made it when, and what became of it. Its user sees all
 * of it; an owner all but details and a client's messages; another member what was applied, as it was applied.
 */
export interface BatchView {
  batchId: string;
  batchKey: string | null;
  batchLabel: string | null;
  sessionId: string;
  turnId: string;
  toolCallId: string;
  callId: string;
  userId: string;
  /** ISO 8601 UTC. */
  createdAt: string;
  /** The batch that this one undoes; null for all but a revert. */
  revertOf: string | null;
  /** Of its call. */
  status: CallStatus;
  error: ToolCallError | null;
  files: FilePatchView[];
  /** What was applied in the place of `files`, where a person edited the batch. */
  effective: PatchBatch | null;
}

/** Answer to `GET …/changes/:changeId`: one change with the file and batch that it belongs to. */
export interface ChangeDetails extends Pick<
  BatchView,
  'batchId' | 'batchKey' | 'batchLabel' | 'createdAt' | 'revertOf'
> {
  filePatchId: string;
  fileKey: string | null;
  docPath: string;
  /** Null where it is withheld: of a file that was not applied. */
  originalSha256: string | null;
  change: ChangeView;
  fileOutcome: PatchFileOutcome | null;
}

/** Body of `POST …/patches/:batchId/revert`. */
export interface RevertRequest {
  /** The caller's own session whose client is to undo the batch. */
  sessionId: string;
  /** Undo the files that can be undone, where others have moved on; default false. */
  allowPartial?: boolean | null;
  /** How long the answer may wait for the client, in ms; default 30,000, 0 answers at once. */
  waitMs?: number | null;
}
