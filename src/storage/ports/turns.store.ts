import type { Json } from '@patchbay/protocol';
import type { AuditDraft } from './audit.store.js';
import type { Membership, SessionUse, Turn, TurnRef } from './turn.js';

/** What a call returned; stored once, with the save that ends the call. */
export interface CallResult {
  callId: string;
  result: Json;
  /** The arguments as a person edited them before they were executed; null or absent where nobody did. */
  editedArguments?: Json;
}

/** An open turn by its name, whose it is, and how new. */
export interface TurnVersion extends TurnRef, Membership {
  version: number;
}

/** Turns with their calls. Arguments are stored at insert and never again; a save writes the small mutable state. */
export abstract class TurnStore {
  /**
   * Stores a new turn (its `version` is 1) with `callArguments[i]` for `turn.calls[i]`, and the events. Gives the turn
   * that stands under this name: the very object given where it was stored, now or by the same insert before.
   */
  abstract insert(turn: Turn, callArguments: readonly Json[], events: readonly AuditDraft[]): Promise<Turn>;

  /**
   * Stores `turn` (whose version is `expectedVersion + 1`), new results and events; false where another write was faster.
   * The same save again answers as the first did, and adds nothing.
   */
  abstract save(
    turn: Turn,
    expectedVersion: number,
    results: readonly CallResult[],
    events: readonly AuditDraft[],
  ): Promise<boolean>;

  /** Appends events that record no change of state, such as a late result. The same events again add nothing. */
  abstract record(workspaceId: string, events: readonly AuditDraft[]): Promise<void>;

  abstract find(ref: TurnRef): Promise<Turn | null>;
  /** The turn of this id, in whatever session of the workspace, that has this call. */
  abstract ofCall(workspaceId: string, turnId: string, callId: string): Promise<Turn | null>;
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
  /** The open turns of these users, in no particular order. */
  abstract openVersionsOf(users: readonly Membership[]): Promise<TurnVersion[]>;
  /** How many turns of the workspace are open. */
  abstract countOpen(workspaceId: string): Promise<number>;
  /** Open turns of which a clock runs out at or before `time`, the most overdue first. */
  abstract dueBefore(time: number, limit: number): Promise<Turn[]>;
  /** Up to `limit` open turns of all workspaces, oldest first, after the one that `after` names; for the boot. */
  abstract openAfter(after: TurnRef | null, limit: number): Promise<Turn[]>;
  /** What the newest of the session's turns that know of a client knows of it; null where the session has used none. */
  abstract lastUseOf(workspaceId: string, sessionId: string): Promise<SessionUse | null>;
}
