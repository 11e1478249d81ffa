import {
  type CallStatus,
  type ExecutionLocation,
  type Json,
  type ToolCallError,
  type TurnStatus,
} from '@patchbay/protocol';

/** Milliseconds of a turn's three clocks, resolved from the request and the configured defaults. */
export interface Clocks {
  deliveryMs: number;
  approvalMs: number;
  executionMs: number;
}

/** What an audit event may say of a call's arguments: never their content. */
export interface CallSubject {
  [field: string]: Json;
}

/** The mutable state of one tool call. Its arguments and its result are stored apart, once each. Times are epoch ms. */
export interface Call {
  readonly callId: string;
  readonly toolCallId: string;
  readonly name: string;
  /** The tool's part of its event names, `CreateFile`; `Unknown` for a tool that the catalog does not have. */
  readonly auditName: string;
  /** Of the contract that it was accepted under; absent for an unknown tool, and in what older versions have stored. */
  readonly contractDigest?: string | undefined;
  readonly location: ExecutionLocation;
  readonly subject: CallSubject;
  /** The patch batch that the arguments are; null for any other tool, and for a batch that was not even valid. */
  readonly batchId: string | null;
  readonly status: CallStatus;
  /** Deliveries so far; 0 before the first. */
  readonly attempt: number;
  /** The client that holds the call, or held it last. */
  readonly clientId: string | null;
  readonly deliveryAt: number;
  readonly approvalAt: number | null;
  readonly executionAt: number | null;
  /** While forwarded and unacknowledged to a client that has left: when another client may have it. */
  readonly releaseAt: number | null;
  /** While pending after a refusal: when it may be sent again. */
  readonly retryAt: number | null;
  /** The client that refused it last: others are asked first. */
  readonly refusedBy: string | null;
  readonly error: ToolCallError | null;
  /** What the orchestrator should know although the call has ended as it did. */
  readonly warnings: readonly ToolCallError[];
  /** sha256 of result and decision, by which the same report sent again is known. */
  readonly reportDigest: string | null;
  readonly executionMs: number | null;
  readonly endedAt: number | null;
}

/** The aggregate: a turn and all its calls, in the LLM's order, under one version. */
export interface Turn {
  readonly workspaceId: string;
  readonly sessionId: string;
  readonly conversationId: string;
  readonly turnId: string;
  /** The session's user, whose clients may execute the calls. */
  readonly userId: string;
  /** The session's bound client, if it has one. */
  readonly boundClientId: string | null;
  readonly version: number;
  readonly status: TurnStatus;
  readonly acceptedAt: number;
  readonly clocks: Clocks;
  /** sha256 of what makes two requests the same: session, calls, timeouts. */
  readonly requestHash: string;
  readonly idempotencyKey: string | null;
  /** When the turn next wants a tick, epoch ms: a deadline, a release or a retry. Null where it waits for no clock. */
  readonly dueAt: number | null;
  readonly calls: readonly Call[];
}

/** Where a turn is found. turnId is unique in its session only. */
export interface TurnRef {
  workspaceId: string;
  sessionId: string;
  turnId: string;
}
