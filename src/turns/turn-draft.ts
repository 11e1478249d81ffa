import { type AuditStep, type FinalStatus, isFinal, type Json, type ToolCallError } from '@patchbay/protocol';
import type { CallResult } from '../storage/ports/turns.store.js';
import type { Call, Turn } from '../storage/ports/turn.js';
import { nextDueAt } from './deadlines.js';

/** A step to record. The actor is the session's user with `clientId`, or whoever `userId` names. */
export interface TurnEvent {
  step: AuditStep;
  call: Call;
  clientId: string | null;
  userId?: string;
  fields: { [field: string]: Json };
}

/** What to do once the turn is committed. */
export type TurnEffect =
  | { type: 'deliver'; callId: string; clientId: string; attempt: number }
  | { type: 'stop_client'; callId: string; clientId: string; reason: 'cancelled' | 'timed_out' };

/** What to tell whoever brought the input. */
export type TurnAnswer =
  | { ok: true; duplicate?: true; forget?: string[]; resume?: string[] }
  | { ok: false; code: 'CONFLICT' | 'LATE_RESULT' | 'NOT_FOUND'; message: string };

/** What one input makes of a turn. `turn` is the very object that went in where nothing changed. */
export interface TurnStep {
  turn: Turn;
  events: TurnEvent[];
  effects: TurnEffect[];
  results: CallResult[];
  answer: TurnAnswer;
}

/** The next turn in the making: transitions write into it, `finish` gives what came of it. */
export class TurnDraft {
  readonly calls: Call[];
  readonly events: TurnEvent[] = [];
  readonly effects: TurnEffect[] = [];
  readonly results: CallResult[] = [];
  answer: TurnAnswer = { ok: true };
  private status: Turn['status'];
  private changed = false;

  constructor(
    readonly turn: Turn,
    readonly now: number,
  ) {
    this.calls = [...turn.calls];
    this.status = turn.status;
  }

  find(callId: string): Call | undefined {
    return this.calls.find((call) => call.callId === callId);
  }

  replace(call: Call, change: Partial<Call>): Call {
    const next = { ...call, ...change };
    this.calls[this.calls.findIndex(({ callId }) => callId === call.callId)] = next;
    this.changed = true;
    return next;
  }

  /** Ends a call; the caller records how. */
  close(call: Call, status: FinalStatus, error: ToolCallError | null, change: Partial<Call> = {}): Call {
    return this.replace(call, {
      status,
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
      executionAt: null,
      ...change,
    } as const;
    this.record('Released', this.replace(call, next), call.clientId, fields);
  }

  record(step: AuditStep, call: Call, clientId: string | null, fields: { [field: string]: Json } = {}): void {
    this.events.push({ step, call, clientId, fields });
  }

  stopClient(call: Call, reason: 'cancelled' | 'timed_out'): void {
    if (call.clientId === null) return;
    this.effects.push({ type: 'stop_client', callId: call.callId, clientId: call.clientId, reason });
  }

  refuse(code: 'CONFLICT' | 'LATE_RESULT' | 'NOT_FOUND', message: string): void {
    this.answer = { ok: false, code, message };
  }

  /** The whole turn was cancelled, if that ended anything. */
  markCancelled(): void {
    if (this.changed) this.status = 'cancelled';
  }

  finish(): TurnStep {
    const { events, effects, results, answer } = this;
    if (!this.changed) return { turn: this.turn, events, effects, results, answer };
    if (this.status === 'open' && this.calls.every((call) => isFinal(call.status))) this.status = 'completed';
    return {
      turn: { ...this.turn, status: this.status, calls: this.calls, dueAt: nextDueAt(this.calls) },
      events,
      effects,
      results,
      answer,
    };
  }
}
