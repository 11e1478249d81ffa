import type { Approval } from './approval.js';
import type { ErrorCode } from './errors.js';
import type { ResultFormat, ResultMessages, ToolCallInput } from './provider-forms.js';
import type { ExecutionLocation, Json } from './tool-contract.js';

/** Where a call is on its way; the last five are final [TURN-9]. */
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
/** Where a call is that has not ended. */
export type OpenStatus = Exclude<CallStatus, FinalStatus>;

/** Whether a call with this status has ended. */
export function isFinal(status: CallStatus): status is FinalStatus {
  return (FINAL_STATUSES as readonly string[]).includes(status);
}

/** Where a turn is: `cancelled` where the whole of it was. */
export type TurnStatus = 'open' | 'completed' | 'cancelled';

/** A turnId: 1 to 128 characters that need no escaping in a URL, of which `.` and `..` would name another route. */
export const TURN_ID = /^(?!\.{1,2}$)[A-Za-z0-9._:-]{1,128}$/;

/**
 * Milliseconds, from 1, for each of the three clocks of a call that a client runs; the call is `timed_out` when one has
 * run out. What is left out takes the server's default; VALIDATION_ERROR for more than the server allows.
 */
export interface Timeouts {
  /** From acceptance to the client's acknowledgement; default 5 minutes, at most a day. */
  deliveryMs?: number | null;
  /** From there until it runs, the time in which a person decides; default 15 minutes, at most a day. */
  approvalMs?: number | null;
  /** From there to the result; default 2 minutes, at most an hour. */
  executionMs?: number | null;
}

/** Body of `POST …/turns`. */
export interface TurnRequest {
  /** As TURN_ID has it; given where it is left out. The same turn sent again under it is answered, not run again. */
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

/** The result of one call, posted by a client that has no socket. */
export interface PostedResult {
  toolCallId: string;
  /** Fits the tool's responseSchema; null with a denial. */
  result: Json;
  /** How long it ran, in whole ms. */
  executionMs?: number | null;
  /** What a person decided; left out where nobody was asked. */
  approval?: Approval | null;
}

/** Body of `POST …/turns/:turnId/results`. */
export interface ResultsRequest {
  /** At most 1,000. */
  results: PostedResult[];
}

/** When each clock of a call runs out, ISO 8601; null while the clock has not started. */
export interface Deadlines {
  deliveryAt: string | null;
  approvalAt: string | null;
  executionAt: string | null;
}

/** A call that has not ended: enough for a client to execute it without a socket. */
export interface OpenToolCall {
  /** The model's name for it, once in a turn. */
  toolCallId: string;
  /** Ours, a UUID: once everywhere. */
  callId: string;
  name: string;
  arguments: Json;
  executionLocation: ExecutionLocation;
  status: OpenStatus;
  /** How often it was delivered to a client; 0 before the first time. */
  attempt: number;
  /** Of the client that has it; null where none has. */
  clientId: string | null;
  deadlines: Deadlines;
  /** docPaths of the folders that it names: it goes to a client that has them all. Absent where it names none. */
  roots?: string[];
}

/** Why a call ended without success. `code` is one of CALL_ERRORS or the tool's own. */
export interface ToolCallError {
  code: string;
  message: string;
  details?: Json;
}

/** A call that has ended. `result` is what the tool returned, also where it reported failure. */
export interface ToolResult {
  toolCallId: string;
  callId: string;
  name: string;
  status: FinalStatus;
  /** Fits the tool's responseSchema; null where the tool gave none. */
  result: Json;
  /** Why it ended without success; null with `succeeded`. */
  error: ToolCallError | null;
  /** How long it ran, in ms; null where that is not known. */
  executionMs: number | null;
  /** ISO 8601 UTC. */
  endedAt: string;
}

/** The turn envelope: `final` once every call has ended, until then `client_tool_continuation`. */
export interface TurnEnvelope {
  kind: 'final' | 'client_tool_continuation';
  sessionId: string;
  conversationId: string;
  turnId: string;
  status: TurnStatus;
  /** One call by `POST …/tools`; left out of others. */
  direct?: true;
  /** Those that are open, in the order of the request; none with `final`. */
  toolCalls: OpenToolCall[];
  /** Those that have ended, in the order of the request. */
  toolResults: ToolResult[];
  /** The ended calls, ready to be appended to a provider's conversation; where `resultFormat` names one. */
  messages?: ResultMessages;
}

/** What the turn routes answer; `successful` says that the turn was taken, not that its calls succeeded. */
export interface InvokeResult<T> {
  successful: boolean;
  errors: { errorCode: ErrorCode | (string & {}); message: string; details?: Json }[];
  warnings: { errorCode: string; message: string; details?: Json }[];
  result: T;
}

/** An open turn of a workspace, as its owners see it. */
export interface OpenTurn {
  sessionId: string;
  turnId: string;
  /** Whose session it is. */
  userId: string;
  /** ISO 8601 UTC. */
  acceptedAt: string;
  /** One call by `POST …/tools`; left out of others. */
  direct?: true;
}

/** Answer to `GET …/turns`: oldest first. */
export interface OpenTurnPage {
  turns: OpenTurn[];
  nextCursor: string | null;
}
