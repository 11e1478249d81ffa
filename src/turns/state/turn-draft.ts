import { type AuditStep, type FinalStatus, type Json, type ToolCallError } from '@patchbay/protocol';
import { positionOf } from '../../storage/ports/turn-calls.js';
import type { CallResult } from '../../storage/ports/turns.store.js';
import type { Call, CallEnder, Lease, Turn } from '../../storage/ports/turn.js';
import { dueAfter } from './deadlines.js';
import { newLease } from './lease.js';

/** A step to record. The actor is the session's user with `clientId`, or whoever `userId` names. */
export interface TurnEvent {
  step: AuditStep;
  call: Call;
  clientId: string | null;
  userId?: string;
  fields: { [field: string]: Json };
}

/** What to tell whoever brought the input. */
export type TurnAnswer =
  | { ok: true; duplicate?: true; forget?: string[]; resume?: string[] }
  | { ok: false; code: Refusal; message: string };

type Refusal = 'CONFLICT' | 'LATE_RESULT' | 'NOT_FOUND' | 'TOO_LARGE';

/** What one input makes of a turn. `turn` is the very object that went in where nothing changed. */
export interface TurnStep {
  turn: Turn;
  events: TurnEvent[];
  results: CallResult[];
  answer: TurnAnswer;
}

/** The next turn in the making: transitions write into it, `finish` gives what came of it. */
export class TurnDraft {
  readonly calls: Call[];
  readonly events: TurnEvent[] = [];
  readonly results: CallResult[] = [];
  answer: TurnAnswer = { ok: true };
  lastClientId: string | null;
  folder: readonly string[] | null;
  resultRoom: number;
  private lease: Lease | null;
  private status: Turn['status'];
  changed = false;

  constructor(
    readonly turn: Turn,
    readonly now: number,
  ) {
    this.calls = [...turn.calls];
    this.status = turn.status;
    this.lease = turn.lease;
    this.resultRoom = turn.resultRoom;
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

  /** Ends a call; the caller records how. */
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

  /** Puts a call back among the pending ones. */
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

  /** The server's calls are still run, while there are any, and by whoever holds the lease. */
  renew(lease: Lease): void {
    if (!this.isRunning || (this.lease !== null && this.lease.owner !== lease.owner)) return;
    this.lease = lease;
    this.changed = true;
  }

  /**
   * Sees to it that a node runs the server's calls: the one that does already, else this one. False where the one that
   * did is not heard of any more: what it ran is ended first.
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

  /** The whole turn was cancelled, if that ended anything. */
  markCancelled(): void {
    if (this.changed) this.status = 'cancelled';
  }

  finish(): TurnStep {
    const { events, results, answer } = this;
    if (!this.changed) return { turn: this.turn, events, results, answer };
    if (this.status === 'open' && this.calls.every(({ endedAt }) => endedAt !== null))
      this.status = 'completed';
    const { status, lastClientId, folder, lease, resultRoom, calls } = this;
    const turn = { ...this.turn, status, lastClientId, folder, lease, resultRoom, calls };
    return { turn: { ...turn, dueAt: dueAfter(this.turn, turn) }, events, results, answer };
  }
}
