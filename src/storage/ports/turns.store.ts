import type { Json } from '@patchbay/protocol';
import type { JsonText } from '../../common/json-text.js';
import type { AuditDraft } from './audit.store.js';
import type { Lease, Membership, SessionUse, Turn, TurnRef } from './turn.js';

/**
 * What a call returned; stored once, with the write that ends the call. The arguments that the server is to run it with,
 * as a person edited them, are stored before: alone, and once, too. The result that comes later brings none, and leaves
 * them as they are.
 */
export interface CallResult {
  callId: string;
  /** Absent: there are edited arguments alone so far. To every reader of results there is none then. */
  result?: Json;
  /** What its error says beside code and message; null or absent where it says no more. */
  details?: Json;
  /** The arguments as a person edited them before they were executed; null or absent where nobody did. */
  editedArguments?: Json;
}

/** A value as it is read: of a large one its text, to be passed on without being parsed. */
export type StoredJson = Json | JsonText;

/** What a call returned: both null where there is none. */
export interface StoredResult {
  result: Json;
  details: Json;
}

/** The same, to be passed on. */
export interface ResultTexts {
  result: StoredJson;
  details: StoredJson;
}

/** An open turn by its name, whose it is, and how new. */
export interface TurnVersion extends TurnRef, Membership {
  version: number;
}

/** An open turn as a list of them names it. */
export interface OpenTurnName extends TurnVersion {
  acceptedAt: number;
  direct?: true;
}

/** Open turns, and the calls that they were accepted with. */
export interface OpenCount {
  turns: number;
  calls: number;
}

/**
 * Turns with their calls. Arguments are stored at insert and never again; a save writes what is small of the turn, and the
 * calls that have changed.
 */
export abstract class TurnStore {
  /**
   * Stores a new turn (its `version` is 1) with `callArguments[i]` for `turn.calls[i]`, what is told of calls that have ended
   * already, and the events; FORBIDDEN where its user is no member (`Membership`). MongoDB looks again after the write, and
   * the turn is stored where that refuses: whoever gets FORBIDDEN cancels what is there. Gives the turn that stands under this name: the very object given where it was stored, now or
   * by the same insert before.
   */
  abstract insert(
    turn: Turn,
    callArguments: readonly Json[],
    results: readonly CallResult[],
    events: readonly AuditDraft[],
  ): Promise<Turn>;

  /**
   * Puts `turn` in the place of `before`, which is one version older, with new results and events; false where another
   * write was faster. Calls that are the very same objects in both are not written. The same save again answers as the
   * first did, and adds nothing. `by`: the member whose input it is, if it is one's.
   */
  abstract save(
    before: Turn,
    turn: Turn,
    results: readonly CallResult[],
    events: readonly AuditDraft[],
    by?: Membership,
  ): Promise<boolean>;

  /** Appends events that record no change of state, such as a late result. The same events again add nothing. */
  abstract record(workspaceId: string, events: readonly AuditDraft[]): Promise<void>;

  abstract find(ref: TurnRef): Promise<Turn | null>;
  /** How new the turn is; null where there is none. */
  abstract versionOf(ref: TurnRef): Promise<number | null>;
  /** The turn of this id, in whatever session of the workspace, that has this call. */
  abstract ofCall(workspaceId: string, turnId: string, callId: string): Promise<Turn | null>;
  /** Arguments of every call, in the order of the calls. */
  abstract argumentsOf(ref: TurnRef): Promise<StoredJson[]>;
  /** Arguments of the call at this position, from 0. */
  abstract argumentsOfCall(ref: TurnRef, position: number): Promise<Json>;
  /** Results of the calls that have one, by callId. `resultBudget` bounds how much that is. */
  abstract resultsOf(ref: TurnRef): Promise<Map<string, ResultTexts>>;
  /** What is told of the end of a call; null where nothing is. */
  abstract resultOf(ref: TurnRef, callId: string): Promise<StoredResult | null>;
  /** The arguments of a call as a person edited them, also before it has ended; null where nobody did. */
  abstract editedArgumentsOf(ref: TurnRef, callId: string): Promise<Json>;
  /** The open turns of these users, of each the oldest first. */
  abstract openVersionsOf(users: readonly Membership[]): Promise<TurnVersion[]>;
  /** Up to `limit` open turns of the workspace, or of one user in it, oldest first, after the one that `after` names. */
  abstract openIn(
    workspaceId: string,
    userId: string | null,
    after: TurnRef | null,
    limit: number,
  ): Promise<OpenTurnName[]>;
  /** What is open of the workspace. */
  abstract openOfWorkspace(workspaceId: string): Promise<OpenCount>;
  /** What is open of the user, in all workspaces that they are a member of: in others it is being cancelled. */
  abstract openOfUser(userId: string): Promise<OpenCount>;
  /** Open turns of which a clock runs out at or before `time`, the most overdue first. */
  abstract dueBefore(time: number, limit: number): Promise<TurnRef[]>;
  /** Open turns of all workspaces whose server calls are this node's to run, by their lease; for the boot. */
  abstract leasedBy(node: Lease['owner']): Promise<TurnRef[]>;
  /** What the newest of the session's turns that know of a client knows of it; null where the session has used none. */
  abstract lastUseOf(workspaceId: string, sessionId: string): Promise<SessionUse | null>;
}
