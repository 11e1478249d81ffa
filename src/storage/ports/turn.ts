import type { CallStatus, ExecutionLocation, Json, ToolCallError, TurnStatus } from '@patchbay/protocol';

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

/**
 * Who brought a call to its end: the client that held it, the server that ran or refused it, the orchestrator with a
 * cancel or a posted result, or a clock.
 */
export type CallEnder = 'client' | 'server' | 'orchestrator' | 'clock';

/** What a person has decided about a call that the server runs. */
export interface CallApproval {
  /** sha256 of the decision, by which the same one sent again is known. */
  readonly digest: string;
  /** What the audit events say of it. */
  readonly summary: CallSubject;
  /** When a person edited the arguments, which are stored apart, epoch ms; absent where they are as they were posted. */
  readonly editedAt?: number | undefined;
}

/** The mutable state of one tool call. Its arguments and its result are stored apart, once each. Times are epoch ms. */
export interface Call {
  readonly callId: string;
  readonly toolCallId: string;
  readonly name: string;
  /** The tool's part of its event names, `CreateFile`; `Unknown` for a tool that the catalog does not have. */
  readonly auditName: string;
  /** Of the contract that it was accepted under; absent for an unknown tool. */
  readonly contractDigest?: string | undefined;
  readonly location: ExecutionLocation;
  /** The server runs it once a person has allowed it; fixed at acceptance. Absent: nobody is asked by the server. */
  readonly needsApproval?: true | undefined;
  /** Of such a call: what was decided, once it was allowed. */
  readonly approved?: CallApproval | undefined;
  readonly subject: CallSubject;
  /** docPaths of the folders that it names, so that only a client that has them all may have it; absent: none. */
  readonly roots?: readonly string[] | undefined;
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
  /** While forwarded and unacknowledged: when another client may have it. Null where the client is waited for. */
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
  readonly endedBy: CallEnder | null;
}

/** Which node runs a turn's server calls, and until when (epoch ms) that is believed without another word from it. */
export interface Lease {
  readonly owner: string;
  readonly until: number;
}

/** What a session has used so far. */
export interface SessionUse {
  /** The client that it used last. */
  readonly lastClientId: string | null;
  /**
   * rootIds, sorted, of the client that its first call went to: the folder that it began with. Empty for a client that
   * announced none; null where no call has gone to a client yet.
   */
  readonly folder: readonly string[] | null;
}

/** The aggregate: a turn and all its calls, in the LLM's order, under one version. */
export interface Turn extends SessionUse {
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
  /** Bytes that the results of its calls may still have, set at acceptance: what is over them fails. */
  readonly resultBudget: number;
  /** Characters of the JSON of its arguments, about, where they are many; set at acceptance. */
  readonly argumentChars?: number;
  /** One call for its own sake, by `POST …/tools`. */
  readonly direct?: true;
  /** Null where the server has nothing to run. */
  readonly lease: Lease | null;
  /** When the turn next wants a tick, epoch ms. Null where it waits for no clock. */
  readonly dueAt: number | null;
  readonly calls: readonly Call[];
}

/** Where a turn is found. turnId is unique in its session only. */
export interface TurnRef {
  workspaceId: string;
  sessionId: string;
  turnId: string;
}

/**
 * A user in a workspace: whose turns they are, and whose clients execute them.
 *
 * A port method that writes for a member rejects with FORBIDDEN, and writes nothing, where the user is no member as the write
 * commits. On MongoDB, where no write spans the workspace and another document, it is so as of a read right before the
 * write: one that is under way while its user is removed may still be stored, and none that begins after that.
 */
export interface Membership {
  workspaceId: string;
  userId: string;
}
