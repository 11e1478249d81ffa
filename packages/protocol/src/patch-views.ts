import type { FilePatch, PatchBatch, PatchChange } from './patch-batch.js';
import type { PatchChangeResult, PatchFileResult } from './tools/patch-result.js';
import type { CallStatus, ToolCallError } from './turns.js';

/** The outcome of a file, without its ids. */
export type PatchFileOutcome = Pick<
  PatchFileResult,
  'status' | 'newSha256' | 'versionId' | 'errorCode' | 'message'
>;
/** The outcome of a change, without its ids. */
export type PatchChangeOutcome = Pick<PatchChangeResult, 'status' | 'errorCode' | 'message' | 'details'>;

/** A change that was not applied, for members who are neither the user of the batch nor an owner: its id and status. */
export interface WithheldChange {
  changeId: string;
  operation: null;
}

/** A proposed change and its outcome; null while it is open. `operation` is null if its lines are withheld. */
export type ChangeView = (PatchChange | WithheldChange) & { outcome: PatchChangeOutcome | null };
/**
 * The proposed changes of one file and their outcome; null while it is open. `originalSha256`, keys and labels are
 * null if withheld.
 */
export type FilePatchView = Omit<FilePatch, 'changes' | 'originalSha256'> & {
  originalSha256: string | null;
  changes: ChangeView[];
  outcome: PatchFileOutcome | null;
};

/**
 * Answer to `GET …/patches/:batchId`: a batch with its ids, its author and time, and its outcome. Its user sees all
 * of it; an owner all but details and client messages; other members what was applied.
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
  /** The batch that this one undoes; null unless it is a revert. */
  revertOf: string | null;
  /** Status of its call. */
  status: CallStatus;
  error: ToolCallError | null;
  files: FilePatchView[];
  /** What was applied instead of `files` after a person edited the batch. */
  effective: PatchBatch | null;
}

/** Answer to `GET …/changes/:changeId`: one change with its file and batch. */
export interface ChangeDetails extends Pick<
  BatchView,
  'batchId' | 'batchKey' | 'batchLabel' | 'createdAt' | 'revertOf'
> {
  filePatchId: string;
  fileKey: string | null;
  docPath: string;
  /** Null if withheld, as for a file that was not applied. */
  originalSha256: string | null;
  change: ChangeView;
  fileOutcome: PatchFileOutcome | null;
}

/** Body of `POST …/patches/:batchId/revert`. */
export interface RevertRequest {
  /** The caller's own session whose client undoes the batch. */
  sessionId: string;
  /** Undo the files that can be undone if others have changed since; default false. */
  allowPartial?: boolean | null;
  /** How long the answer may wait for the client, in ms; default 30,000, 0 answers at once. */
  waitMs?: number | null;
}
