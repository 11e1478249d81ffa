import type { AuditStep, AuditTurnEvent, FinalStatus, Json, ToolCallError } from '@patchbay/protocol';
import { positionOf } from '../../storage/ports/turn-calls.js';
import type { CallResult } from '../../storage/ports/turns.store.js';
import type { Call, CallEnder, Lease, Turn } from '../../storage/ports/turn.js';
import { dueAfter } from './deadlines.js';
import { newLease } from './lease.js';

/** Common part of both event kinds. The actor is the session's user with `clientId`, or the user `userId`. */
interface Recorded {
  clientId: string | null;
  userId?: string;
  fields: { [field: string]: Json };
}

/** A step of a call to record. */
export interface CallEvent extends Recorded {
  step: AuditStep;
  call: Call;
}

/** A step of the whole turn. */
export interface WholeTurnEvent extends Recorded {
  step: AuditTurnEvent;
  call: null;
}

export type TurnEvent = CallEvent | WholeTurnEvent;

/** The answer to the sender of an input. */
export type TurnAnswer =
  | { ok: true; duplicate?: true; forget?: string[]; resume?: string[] }
  | { ok: false; code: Refusal; message: string };

type Refusal = 'CONFLICT' | 'LATE_RESULT' | 'NOT_FOUND' | 'TOO_LARGE';

/** The result of one input. `turn` is the same object if nothing changed. */
export interface TurnStep {
  turn: Turn;
  events: TurnEvent[];
  results: CallResult[];
  answer: TurnAnswer;
}

/** Who cancelled a whole turn, and why unless it was the orchestrator. */
interface Cancellation {
  byUserId: string;
  why?: string;
}

/** Marks direct calls in audit events. */
export function purposeOf({ direct }: Turn): { direct?: true } {
  return direct ? { direct } : {};
}

/** Status of a turn that was not cancelled as a whole. */
export function statusOf(calls: readonly Call[]): 'open' | 'completed' {
  return calls.every(({ endedAt }) => endedAt !== null) ? 'completed' : 'open';
}

/** The last event of a turn, with the number of calls per outcome. */
export function turnEnd(turn: Turn, cancelled: Cancellation | null = null): WholeTurnEvent {
  const { status, calls } = turn;
  const outcomes: { [status: string]: number } = {};
  for (const call of calls) outcomes[call.status] = (outcomes[call.status] ?? 0) + 1;
  const why = cancelled?.why !== undefined && { why: cancelled.why };
  const event = { call: null, clientId: null, fields: { status, outcomes, ...why, ...purposeOf(turn) } };
  return cancelled
    ? { ...event, step: 'Turn.Cancelled', userId: cancelled.byUserId }
    : { ...event, step: 'Turn.Completed' };
}

/** A turn under change: transitions write into it, `finish` returns the result. */
export class TurnDraft {
  readonly calls: Call[];
  readonly events: TurnEvent[] = [];
  readonly results: CallResult[] = [];
  answer: TurnAnswer = { ok: true };
  lastClientId: string | null;
  folder: readonly string[] | null;
  resultBudget: number;
  private lease: Lease | null;
  /** Set if the whole turn was cancelled. */
  private cancelled: Cancellation | null = null;
  changed = false;

  constructor(
    readonly turn: Turn,
    readonly now: number,
  ) {
    this.calls = [...turn.calls];
    this.lease = turn.lease;
    this.resultBudget = turn.resultBudget;
    this.lastClientId = turn.lastClientId;
    this.folder = turn.folder;
  }

  find(callId: string): Call | undefined {
    return this.calls[positionOf(this.calls, callId)];
  }

  replace(call: Call, change: Partial<Call>): Call {
    const next = { ...call, ...change };
    this.calls[positionOf(this.calls, call.callId)] = next;
    this.changed = true;
    return next;
  }

  /** Ends a call; the caller records the event. */
  close(
    call: Call,
    status: FinalStatus,
    endedBy: CallEnder,
    error: ToolCallError | null,
    change: Partial<Call> = {},
  ): Call {
    return this.replace(call, {
      status,
      endedBy,
      error,
      endedAt: this.now,
      releaseAt: null,
      retryAt: null,
      ...change,
    });
  }

  /** Makes a call pending again. */
  release(call: Call, fields: { [field: string]: Json }, change: Partial<Call> = {}): void {
    const next = {
      status: 'pending',
      clientId: null,
      releaseAt: null,
      ...change,
    } as const;
    this.record('Released', this.replace(call, next), call.clientId, fields);
  }

  record(step: AuditStep, call: Call, clientId: string | null, fields: { [field: string]: Json } = {}): void {
    this.events.push({ step, call, clientId, fields });
  }

  /** Renews the lease while server calls exist and the same node holds it. */
  renew(lease: Lease): void {
    const { owner, until } = this.lease ?? { owner: lease.owner, until: null };
    if (!this.isRunning || owner !== lease.owner || until === lease.until) return;
    this.lease = lease;
    this.changed = true;
  }

  /**
   * Ensures that a node holds the lease: the current one, else this one. False if the current one expired; its running
   * calls are ended first.
   */
  runOn(node: string): boolean {
    if (this.isRunning && this.lease !== null) return this.lease.until > this.now;
    this.lease = newLease(node, this.now);
    return true;
  }

  private get isRunning(): boolean {
    return this.calls.some(({ status }) => status === 'executing');
  }

  refuse(code: Refusal, message: string): void {
    this.answer = { ok: false, code, message };
  }

  /** Marks the whole turn as cancelled, if that ended a call. */
  markCancelled(cancellation: Cancellation): void {
    if (this.changed) this.cancelled = cancellation;
  }

  finish(): TurnStep {
    const { events, results, answer } = this;
    if (!this.changed) return { turn: this.turn, events, results, answer };
    const { lastClientId, folder, lease, resultBudget, calls, cancelled } = this;
    const status = cancelled ? 'cancelled' : statusOf(calls);
    const turn: Turn = { ...this.turn, status, lastClientId, folder, lease, resultBudget, calls };
    // An ended turn never changes, so this happens once.
    if (status !== 'open') events.push(turnEnd(turn, cancelled));
    return { turn: { ...turn, dueAt: dueAfter(this.turn, turn) }, events, results, answer };
  }
}
