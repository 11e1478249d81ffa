import type { Json, ToolCallError } from '@patchbay/protocol';
import type { Lease } from '../../storage/ports/turn.js';

/** How a call ended, checked against the tool's response schema before it comes here. */
export interface Report {
  /** `approved`: it has not ended; a person has allowed the server to run it. */
  status: 'succeeded' | 'failed' | 'denied' | 'approved';
  result: Json;
  error: ToolCallError | null;
  /** Of result and error details, as JSON; where it is `approved`, of the edited arguments. */
  bytes: number;
  executionMs: number | null;
  /** sha256 over result and decision: the same report sent again has the same digest. */
  digest: string;
  /** What the audit event may say of it: success, errorCode, sizeBytes, hash, approval. */
  summary: { [field: string]: Json };
  /** The arguments as a person edited them, where somebody did. */
  editedArguments?: Json;
  /** In what the report differs from what the server knows itself; each is recorded. */
  divergences?: { [field: string]: Json }[];
  /** Files that it says were written, and whose bytes never came; each is recorded. */
  notUploaded?: { [field: string]: Json }[];
  /** What the orchestrator is told of them. */
  warnings?: ToolCallError[];
}

/** Steps that a client brings about on a call it holds. */
export type ProgressStatus = 'acknowledged' | 'awaiting_approval' | 'running';

/** One call of a client's journal. A finished one whose result broke the schema comes as `running`. */
export interface ResumedCall {
  callId: string;
  state: ProgressStatus | Report;
}

/** What can happen to a turn. */
export type TurnInput =
  /** `ackWithinMs`: how long the call is the client's without a word from it. `folder`: the session's, as `Turn` has it. */
  | { type: 'claim'; callId: string; clientId: string; folder: readonly string[]; ackWithinMs: number }
  | { type: 'progress'; callId: string; clientId: string; status: ProgressStatus; note: string | null }
  | { type: 'refuse'; callId: string; clientId: string; attempt: number; message: string }
  | { type: 'report'; callId: string; clientId: string; report: Report }
  /** From the orchestrator over HTTP, whoever holds the calls: all of them are taken, or none. */
  | { type: 'report_all'; reports: readonly { callId: string; report: Report }[] }
  /** A server-located tool has run. */
  | { type: 'executed'; callId: string; report: Report }
  /** The node that runs the turn's server calls is alive. */
  | { type: 'lease'; lease: Lease }
  /** The node has begun anew: whatever it ran before is nobody's. */
  | { type: 'node_started'; node: string }
  | { type: 'client_left'; clientId: string; graceMs: number }
  | { type: 'resume'; clientId: string; entries: readonly ResumedCall[] }
  /** `toolCallId` null: the whole turn. `why`: what the model is told, where it was not the orchestrator. */
  | { type: 'cancel'; toolCallId: string | null; byUserId: string; why?: string }
  | { type: 'tick' };
