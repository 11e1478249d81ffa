import type { CallStatus, ExecutionLocation, Json, ToolCallError, TurnStatus } from '@patchbay/protocol';

/** Milliseconds of a turn's three timeouts, from the request or the configured defaults. */
export interface Clocks {
  deliveryMs: number;
  approvalMs: number;
  executionMs: number;
}

/** What an audit event may reveal of a call's arguments: never their content. */
export interface CallSubject {
  [field: string]: Json;
}

/** Who ended a call; `orchestrator` by a cancel or a posted result, `clock` by a timeout. */
export type CallEnder = 'client' | 'server' | 'orchestrator' | 'clock';

/** A person's decision about a call that the server runs. */
export interface CallApproval {
  /** sha256 of the decision, which identifies a repeated one. */
  readonly digest: string;
  /** The decision's summary for audit events. */
  readonly summary: CallSubject;
  /** When a person edited the arguments, epoch ms; absent if they did not. The edited arguments are stored apart. */
  readonly editedAt?: number | undefined;
}

/** The offer of a client that a call of a custom tool was accepted under. */
export interface CallOffer {
  /** The client that offered the tool; others that offer the same contract may take the call. */
  readonly clientId: string;
  /** The tool's timeouts, where the turn has none of its own. */
  readonly clocks?: Partial<Pick<Clocks, 'approvalMs' | 'executionMs'>> | undefined;
}

/** The mutable state of one tool call. Its arguments and its result are stored apart, once each. Times are epoch ms. */
export interface Call {
  readonly callId: string;
  readonly toolCallId: string;
  readonly name: string;
  /** The tool's part of event names, such as `CreateFile`; `Unknown` for a tool that the catalog lacks. */
  readonly auditName: string;
  /** The contract that it was accepted under; absent for an unknown tool. */
  readonly contractDigest?: string | undefined;
  readonly location: ExecutionLocation;
  /** Only for a tool that a client brings. */
  readonly offer?: CallOffer | undefined;
  /** Whether the server runs it only after a person's approval; fixed at acceptance. Absent: the server asks nobody. */
  readonly needsApproval?: true | undefined;
  /** The decision, once such a call was approved. */
  readonly approved?: CallApproval | undefined;
  readonly subject: CallSubject;
  /** docPaths of the roots that it names: only a client with all of them may execute it. Absent: none. */
  readonly roots?: readonly string[] | undefined;
  /** The batch of a patch call; null for any other tool, and for an invalid batch. */
  readonly batchId: string | null;
  readonly status: CallStatus;
  /** Deliveries so far; 0 before the first. */
  readonly attempt: number;
  /** The client that holds the call, or held it last. */
  readonly clientId: string | null;
  readonly deliveryAt: number;
  readonly approvalAt: number | null;
  readonly executionAt: number | null;
  /** While forwarded and unacknowledged: when it is released to other clients. Null to wait for this client. */
  readonly releaseAt: number | null;
  /** While pending after a refusal: when it may be sent again. */
  readonly retryAt: number | null;
  /** The client that refused it last: others are asked first. */
  readonly refusedBy: string | null;
  readonly error: ToolCallError | null;
  /** Errors that the orchestrator should see although they did not change the outcome. */
  readonly warnings: readonly ToolCallError[];
  /** sha256 of result and decision, which identifies a repeated report. */
  readonly reportDigest: string | null;
  readonly executionMs: number | null;
  readonly endedAt: number | null;
  readonly endedBy: CallEnder | null;
}

/** The node that runs a turn's server calls, and when its lease expires unless renewed (epoch ms). */
export interface Lease {
  readonly owner: string;
  readonly until: number;
}

/** What a session has used so far. */
export interface SessionUse {
  /** The client that it used last. */
  readonly lastClientId: string | null;
  /**
   * rootIds, sorted, of the client that received its first call: the folder that it began with. Empty if that client
   * announced none; null before the first delivery.
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
  /** sha256 of what makes two requests equal: session, calls, timeouts. */
  readonly requestHash: string;
  /** Remaining bytes for the results of its calls, set at acceptance; results beyond it fail. */
  readonly resultBudget: number;
  /** Approximate characters of its arguments' JSON, if they are large; set at acceptance. */
  readonly argumentChars?: number;
  /** A single call by `POST …/tools`. */
  readonly direct?: true;
  /** Null if the server has nothing to run. */
  readonly lease: Lease | null;
  /** When the turn's next timeout expires, epoch ms. Null if none is pending. */
  readonly dueAt: number | null;
  readonly calls: readonly Call[];
}

/** Identifies a turn. turnId is unique only in its session. */
export interface TurnRef {
  workspaceId: string;
  sessionId: string;
  turnId: string;
}

/**
 * A user in a workspace: the owner of turns, whose clients execute them. A port method that writes for a member
 * rejects with FORBIDDEN and writes nothing if the user is no member at the commit. MongoDB checks right before the
 * write, since no write spans the workspace and another document: a write in progress while its user is removed may
 * still be stored, a later one is not.
 */
export interface Membership {
  workspaceId: string;
  userId: string;
}
