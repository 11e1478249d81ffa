import type { Json, ToolCallError } from '@patchbay/protocol';
import type { Lease } from '../../storage/ports/turn.js';

/** How a call ended, already checked against the tool's response schema. */
export interface Report {
  /** `approved`: not ended; a person has allowed the server to run it. */
  status: 'succeeded' | 'failed' | 'denied' | 'approved';
  result: Json;
  error: ToolCallError | null;
  /** Bytes of result and error details as JSON; for `approved`, of the edited arguments. */
  bytes: number;
  executionMs: number | null;
  /** sha256 over result and decision, equal for repeated reports. */
  digest: string;
  /** Fields for the audit event: success, errorCode, sizeBytes, hash, approval. */
  summary: { [field: string]: Json };
  /** The arguments as a person edited them, if any. */
  editedArguments?: Json;
  /** Differences from the server's state; each is recorded. */
  divergences?: { [field: string]: Json }[];
  /** Files reported as written but not uploaded; each is recorded. */
  notUploaded?: { [field: string]: Json }[];
  /** Warnings for the orchestrator. */
  warnings?: ToolCallError[];
}

/** Steps that a client reports for a call it holds. */
export type ProgressStatus = 'acknowledged' | 'awaiting_approval' | 'running';

/** A call in a client's journal. A finished one whose result broke the schema comes as `running`. */
export interface ResumedCall {
  callId: string;
  state: ProgressStatus | Report;
}

/** What can happen to a turn. */
export type TurnInput =
  /** `ackWithinMs`: time to acknowledge. `folder`: the session's, as in `Turn`; null for a custom tool. */
  | { type: 'claim'; callId: string; clientId: string; folder: readonly string[] | null; ackWithinMs: number }
  | { type: 'progress'; callId: string; clientId: string; status: ProgressStatus; note: string | null }
  | { type: 'refuse'; callId: string; clientId: string; attempt: number; message: string }
  | { type: 'report'; callId: string; clientId: string; report: Report }
  /** From the orchestrator over HTTP, whoever holds the calls: all or none. */
  | { type: 'report_all'; reports: readonly { callId: string; report: Report }[] }
  /** A server tool has run. */
  | { type: 'executed'; callId: string; report: Report }
  /** The node that runs the turn's server calls is alive. */
  | { type: 'lease'; lease: Lease }
  /** The node has restarted; its earlier calls are orphaned. */
  | { type: 'node_started'; node: string }
  | { type: 'client_left'; clientId: string; graceMs: number }
  /** The client offers the contracts of these calls no longer; `elsewhere`: the digests that others offer. */
  | { type: 'withdraw'; clientId: string; callIds: readonly string[]; elsewhere: ReadonlySet<string> }
  | { type: 'resume'; clientId: string; entries: readonly ResumedCall[] }
  /** `toolCallId` null: the whole turn. `why`: the message to the model, unless the orchestrator cancelled. */
  | { type: 'cancel'; toolCallId: string | null; byUserId: string; why?: string }
  | { type: 'tick' };
