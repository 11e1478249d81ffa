import type { Json } from '@patchbay/protocol';
import type { Turn, TurnRef } from './turn.js';
import type { AuditDraft } from './audit.store.js';

/** What a call returned; stored once, with the save that ends the call. */
export interface CallResult {
  callId: string;
  result: Json;
  /** The arguments as a person edited them before they were executed; null or absent where nobody did. */
  editedArguments?: Json;
}

/** Outcome of an insert: stored, or why not. */
export type TurnInsert =
  | { outcome: 'inserted' }
  /** The session has this turnId, or the user this idempotency key, already. */
  | { outcome: 'exists'; byTurnId: Turn | null; byKey: Turn | null }
  | { outcome: 'too_many_open' };

export interface TurnLimits {
  /** Most open turns of the workspace, the new one included. */
  maxOpenTurns: number;
  /** Idempotency keys of turns accepted before this time count no longer. Epoch ms. */
  keysSince: number;
}

/** Turns with their calls. Arguments are stored at insert and never again; a save writes the small mutable state. */
export abstract class TurnStore {
  /**
   * Stores a new turn (its `version` is 1) with `callArguments[i]` for `turn.calls[i]`, the results of calls that have
   * ended at once, and the events. An expired idempotency key is taken over from the turn that had it.
   */
  abstract insert(
    turn: Turn,
    callArguments: readonly Json[],
    results: readonly CallResult[],
    events: readonly AuditDraft[],
    limits: TurnLimits,
  ): Promise<TurnInsert>;

  /** Stores `turn` (whose version is `expectedVersion + 1`), new results and events; false where another write was faster. */
  abstract save(
    turn: Turn,
    expectedVersion: number,
    results: readonly CallResult[],
    events: readonly AuditDraft[],
  ): Promise<boolean>;

  /** Appends events that record no change of state, such as a late result. */
  abstract record(workspaceId: string, events: readonly AuditDraft[]): Promise<void>;

  abstract find(ref: TurnRef): Promise<Turn | null>;
  /** The turn of this id, in whatever session of the workspace, that has this call. */
  abstract ofCall(workspaceId: string, turnId: string, callId: string): Promise<Turn | null>;
  /** The turn that used this key since `since` (epoch ms). */
  abstract byIdempotencyKey(
    workspaceId: string,
    userId: string,
    key: string,
    since: number,
  ): Promise<Turn | null>;
  /** Arguments of every call, in the order of the calls. */
  abstract argumentsOf(ref: TurnRef): Promise<Json[]>;
  /** Arguments of the call at this position, from 0. */
  abstract argumentsOfCall(ref: TurnRef, position: number): Promise<Json>;
  /** Results of the calls that have one, by callId. */
  abstract resultsOf(ref: TurnRef): Promise<Map<string, Json>>;
  /** The arguments of a call as a person edited them; null where nobody did. */
  abstract editedArgumentsOf(ref: TurnRef, callId: string): Promise<Json>;
  /** The user's open turns in the workspace, oldest first. */
  abstract openOf(workspaceId: string, userId: string): Promise<Turn[]>;
  /** Open turns of which a clock runs out at or before `time`, the most overdue first. */
  abstract dueBefore(time: number, limit: number): Promise<Turn[]>;
  /** Up to `limit` open turns of all workspaces, oldest first, after the one that `after` names; for the boot. */
  abstract openAfter(after: TurnRef | null, limit: number): Promise<Turn[]>;
  /** The client that handled the session's most recent relayed call. */
  abstract lastClientOf(workspaceId: string, sessionId: string): Promise<string | null>;
}
