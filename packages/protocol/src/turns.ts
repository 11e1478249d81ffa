import type { Approval } from './approval.js';
import type { ErrorCode } from './errors.js';
import type { ResultFormat, ResultMessages, ToolCallInput } from './provider-forms.js';
import type { ExecutionLocation, Json } from './tool-contract.js';

/** Statuses of a call; the last five are final [TURN-9]. */
export const CALL_STATUSES = [
  'accepted',
  'executing',
  'pending',
  'forwarded',
  'acknowledged',
  'awaiting_approval',
  'running',
  'succeeded',
  'failed',
  'denied',
  'cancelled',
  'timed_out',
] as const;
/** One of CALL_STATUSES. */
export type CallStatus = (typeof CALL_STATUSES)[number];

/** Statuses of a call that has ended. */
export const FINAL_STATUSES = ['succeeded', 'failed', 'denied', 'cancelled', 'timed_out'] as const;
/** One of FINAL_STATUSES. */
export type FinalStatus = (typeof FINAL_STATUSES)[number];
/** Status of a call that has not ended. */
export type OpenStatus = Exclude<CallStatus, FinalStatus>;

/** Whether a call with this status has ended. */
export function isFinal(status: CallStatus): status is FinalStatus {
  return (FINAL_STATUSES as readonly string[]).includes(status);
}

/** Status of a turn: `cancelled` if the whole turn was cancelled. */
export type TurnStatus = 'open' | 'completed' | 'cancelled';

/** A turnId: 1 to 128 characters that need no escaping in a URL, except `.` and `..`, which would name another route. */
export const TURN_ID = /^(?!\.{1,2}$)[A-Za-z0-9._:-]{1,128}$/;

/**
 * Milliseconds, at least 1, for each of the three deadlines of a client call; the call is `timed_out` when one is
 * over. Omitted ones have the server's default; VALIDATION_ERROR above the server's maximum.
 */
export interface Timeouts {
  /** From acceptance to the client's acknowledgement; default 5 minutes, at most a day. */
  deliveryMs?: number | null;
  /** From there until it runs, while a person decides; default 15 minutes, at most a day. */
  approvalMs?: number | null;
  /** From there to the result; default 2 minutes, at most an hour. */
  executionMs?: number | null;
}

/** Body of `POST …/turns`. */
export interface TurnRequest {
  /** Must match TURN_ID; assigned if omitted. The same turn sent again with it is answered, not run again. */
  turnId?: string | null;
  /** 1 to 1,000 (the server may set another limit), each toolCallId once. */
  toolCalls: ToolCallInput[];
  /** How long the answer may wait for the calls to end, in ms, up to 5 minutes; default 30,000, 0 answers at once. */
  waitMs?: number | null;
  timeouts?: Timeouts | null;
  /** Adds the ended calls as `messages` of this provider's API. */
  resultFormat?: ResultFormat | null;
}

/** Query of `GET …/turns/:turnId`. */
export interface TurnQuery {
  /** How long the answer may wait for the calls to end, in ms, up to 5 minutes; default 0. */
  waitMs?: number;
  /** Adds the ended calls as `messages` of this provider's API. */
  resultFormat?: ResultFormat | null;
}

/** The result of one call, posted by a client without a socket. */
export interface PostedResult {
  toolCallId: string;
  /** Fits the tool's responseSchema; null with a denial. */
  result: Json;
  /** Execution time in whole ms. */
  executionMs?: number | null;
  /** The person's decision; omitted if nobody was asked. */
  approval?: Approval | null;
}

/** Body of `POST …/turns/:turnId/results`. */
export interface ResultsRequest {
  /** At most 1,000. */
  results: PostedResult[];
}

/** The end of each deadline of a call, ISO 8601; null before the deadline has started. */
export interface Deadlines {
  deliveryAt: string | null;
  approvalAt: string | null;
  executionAt: string | null;
}

/** A call that has not ended, with all that a client needs to execute it without a socket. */
export interface OpenToolCall {
  /** The model's id, unique in the turn. */
  toolCallId: string;
  /** The server's id, a globally unique UUID. */
  callId: string;
  name: string;
  arguments: Json;
  executionLocation: ExecutionLocation;
  status: OpenStatus;
  /** Number of deliveries to clients. */
  attempt: number;
  /** The client that holds the call; null if none does. */
  clientId: string | null;
  deadlines: Deadlines;
  /** docPaths of the folders that it names: it needs a client with all of them. Absent if it names none. */
  roots?: string[];
}

/** Why a call ended without success. `code` is one of CALL_ERRORS or the tool's own. */
export interface ToolCallError {
  code: string;
  message: string;
  details?: Json;
}

/** A call that has ended. `result` is what the tool returned, also on failure. */
export interface ToolResult {
  toolCallId: string;
  callId: string;
  name: string;
  status: FinalStatus;
  /** Fits the tool's responseSchema; null if the tool gave none. */
  result: Json;
  /** Why it ended without success; null with `succeeded`. */
  error: ToolCallError | null;
  /** Execution time in ms; null if unknown. */
  executionMs: number | null;
  /** ISO 8601 UTC. */
  endedAt: string;
}

/** A turn result: `final` once every call has ended, until then `client_tool_continuation`. */
export interface TurnResult {
  kind: 'final' | 'client_tool_continuation';
  sessionId: string;
  conversationId: string;
  turnId: string;
  status: TurnStatus;
  /** A direct call, by `POST …/tools`; otherwise absent. */
  direct?: true;
  /** Open calls, in the order of the request; empty with `final`. */
  toolCalls: OpenToolCall[];
  /** Ended calls, in the order of the request. */
  toolResults: ToolResult[];
  /** The ended calls in the format of `resultFormat`, ready to append to a provider's conversation. */
  messages?: ResultMessages;
}

/** Answer of the turn routes; `successful` means that the turn was accepted, not that its calls succeeded. */
export interface InvokeResult<T> {
  successful: boolean;
  errors: { errorCode: ErrorCode | (string & {}); message: string; details?: Json }[];
  warnings: { errorCode: string; message: string; details?: Json }[];
  result: T;
}

/** An open turn of a workspace, as owners see it. */
export interface OpenTurn {
  sessionId: string;
  turnId: string;
  /** The user of its session. */
  userId: string;
  /** ISO 8601 UTC. */
  acceptedAt: string;
  /** A direct call, by `POST …/tools`; otherwise absent. */
  direct?: true;
}

/** Answer to `GET …/turns`: oldest first. */
export interface OpenTurnPage {
  turns: OpenTurn[];
  nextCursor: string | null;
}
