import type { Json } from '@patchbay/protocol';
import type { JsonText } from '../../common/json-text.js';
import type { AuditDraft } from './audit.store.js';
import type { Lease, Membership, SessionUse, Turn, TurnRef } from './turn.js';

/**
 * The outcome of a call, stored once, in the write that ends the call. Edited arguments of a server call are stored
 * before it, once and alone; the later result leaves them unchanged.
 */
export interface CallResult {
  callId: string;
  /** Absent: only edited arguments so far, which readers of results see as no result. */
  result?: Json;
  /** Details of its error beside code and message; null or absent without any. */
  details?: Json;
  /** The arguments as a person edited them before the execution; null or absent if unedited. */
  editedArguments?: Json;
}

/** A value as read: a large one as its text, which is passed on unparsed. */
export type StoredJson = Json | JsonText;

/** The result of a call; both are null if there is none. */
export interface StoredResult {
  result: Json;
  details: Json;
}

/** Same as `StoredResult`, to be passed on unparsed. */
export interface ResultTexts {
  result: StoredJson;
  details: StoredJson;
}

/** An open turn with its user and version. */
export interface TurnVersion extends TurnRef, Membership {
  version: number;
}

/** An open turn as a list of open turns names it. */
export interface OpenTurnName extends TurnVersion {
  acceptedAt: number;
  direct?: true;
}

/** Number of open turns, and of the calls they were accepted with. */
export interface OpenCount {
  turns: number;
  calls: number;
}

/** Turns with their calls. Arguments are stored once, at insert; a save writes the state and changed calls. */
export abstract class TurnStore {
  /**
   * Stores a new turn (its `version` is 1) with `callArguments[i]` for `turn.calls[i]`, the results of calls that
   * have ended already, and the events. FORBIDDEN if its user is not a member (`Membership`); MongoDB checks again
   * after the write, so on FORBIDDEN the caller cancels a stored turn. Returns the stored turn of this name: the
   * given object if this insert, or an identical earlier one, stored it.
   */
  abstract insert(
    turn: Turn,
    callArguments: readonly Json[],
    results: readonly CallResult[],
    events: readonly AuditDraft[],
  ): Promise<Turn>;

  /**
   * Replaces `before` by `turn`, one version newer, with new results and events; false if another write came first.
   * Unchanged call objects are not written. A repeated save returns the same and adds nothing. `by`: the member.
   */
  abstract save(
    before: Turn,
    turn: Turn,
    results: readonly CallResult[],
    events: readonly AuditDraft[],
    by?: Membership,
  ): Promise<boolean>;

  /** Appends events that record no change of state, such as a late result. Idempotent. */
  abstract record(workspaceId: string, events: readonly AuditDraft[]): Promise<void>;

  abstract find(ref: TurnRef): Promise<Turn | null>;
  /** The version of the turn; null if it does not exist. */
  abstract versionOf(ref: TurnRef): Promise<number | null>;
  /** The turn with this id and call, in any session of the workspace. */
  abstract ofCall(workspaceId: string, turnId: string, callId: string): Promise<Turn | null>;
  /** Arguments of every call, in order. */
  abstract argumentsOf(ref: TurnRef): Promise<StoredJson[]>;
  /** Arguments of the call at this position, from 0. */
  abstract argumentsOfCall(ref: TurnRef, position: number): Promise<Json>;
  /** Results of the calls that have one, by callId. `resultBudget` bounds their size. */
  abstract resultsOf(ref: TurnRef): Promise<Map<string, ResultTexts>>;
  /** The result of a call; null if it has none. */
  abstract resultOf(ref: TurnRef, callId: string): Promise<StoredResult | null>;
  /** The edited arguments of a call, even before it ends; null if unedited. */
  abstract editedArgumentsOf(ref: TurnRef, callId: string): Promise<Json>;
  /** The open turns of these users, oldest first per user. */
  abstract openVersionsOf(users: readonly Membership[]): Promise<TurnVersion[]>;
  /** Up to `limit` open turns of the workspace, or of one user in it, oldest first, after the turn `after`. */
  abstract openIn(
    workspaceId: string,
    userId: string | null,
    after: TurnRef | null,
    limit: number,
  ): Promise<OpenTurnName[]>;
  /** The open turns of the workspace. */
  abstract openOfWorkspace(workspaceId: string): Promise<OpenCount>;
  /** The open turns of the user, in all workspaces of which they are a member; those in others are being cancelled. */
  abstract openOfUser(userId: string): Promise<OpenCount>;
  /** Open turns with a timeout at or before `time`, the most overdue first. */
  abstract dueBefore(time: number, limit: number): Promise<TurnRef[]>;
  /** Open turns of all workspaces whose server calls this node runs, by their lease; for the boot. */
  abstract leasedBy(node: Lease['owner']): Promise<TurnRef[]>;
  /** The session's use as its newest turn that used a client recorded it; null if the session has used none. */
  abstract lastUseOf(workspaceId: string, sessionId: string): Promise<SessionUse | null>;
}
