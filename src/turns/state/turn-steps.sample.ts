import { type CallStatus, isFinal } from '@patchbay/protocol';
import { aCall, aTurn, NOON } from './turn.sample.js';
import type { Call, Turn } from '../../storage/ports/turn.js';
import type { CallEvent, TurnEvent, TurnStep } from './turn-draft.js';
import { effectsOf, type TurnEffect } from './turn-effects.js';
import type { Report, TurnInput } from './turn-input.js';
import { advance } from './turn-state.js';

/** Calls in each status and their reactions to inputs, for tests; not part of the build. */

export const HOLDER = 'editor-a';
export const OTHER = 'editor-b';
export const NOW = NOON + 1_000;
export const ACK_MS = 15_000;
export const CLOCKS = { deliveryMs: 10_000, approvalMs: 20_000, executionMs: 30_000 };

export function aReport(change: Partial<Report> = {}): Report {
  return {
    status: 'succeeded',
    result: { success: true },
    error: null,
    bytes: 16,
    executionMs: 7,
    digest: 'digest-1',
    summary: { success: true },
    ...change,
  };
}
export const FAILURE = aReport({ status: 'failed', error: { code: 'FileExists', message: 'taken' } });
export const DENIAL = aReport({ status: 'denied', result: null, error: { code: 'DENIED', message: 'no' } });

/** A call in a status after a regular life, held by HOLDER if it has a holder. */
export function callIn(status: CallStatus, change: Partial<Call> = {}): Call {
  const onServer = status === 'accepted' || status === 'executing';
  const held = !onServer && status !== 'pending';
  const acknowledged = held && status !== 'forwarded';
  return aCall({
    callId: 'call-1',
    status,
    location: onServer ? 'server' : 'client',
    attempt: held ? 1 : 0,
    clientId: held ? HOLDER : null,
    deliveryAt: NOON + CLOCKS.deliveryMs,
    approvalAt: acknowledged ? NOON + CLOCKS.approvalMs : null,
    executionAt: status === 'running' ? NOON + CLOCKS.executionMs : null,
    reportDigest: ['succeeded', 'failed', 'denied'].includes(status) ? 'digest-1' : null,
    endedAt: isFinal(status) ? NOON + 1 : null,
    ...change,
  });
}

export function turnOf(call: Call, change: Partial<Turn> = {}): Turn {
  const status = isFinal(call.status) ? 'completed' : 'open';
  return aTurn('workspace', { clocks: CLOCKS, status, calls: [call], ...change });
}

/** A step with its effects. */
export interface Step extends TurnStep {
  effects: TurnEffect[];
}

export function take(turn: Turn, input: TurnInput, at: number): Step {
  const step = advance(turn, input, at, 'node');
  return { ...step, effects: effectsOf(turn, step.turn) };
}

/** The events of single calls. */
export function callEvents(events: readonly TurnEvent[]): CallEvent[] {
  return events.filter((event) => event.call !== null);
}

/** A step as one line of text: `status event,event >effect,effect answer`. */
export function summary({ turn, events, effects, results, answer }: Step): string {
  const parts: string[] = [turn.calls[0]!.status];
  const ofCalls = callEvents(events);
  if (ofCalls.length > 0) parts.push(ofCalls.map(({ step }) => step).join());
  if (effects.length > 0) parts.push(`>${effects.map(effectName).join()}`);
  if (results.length > 0)
    parts.push(results.every(({ result }) => result === undefined) ? '+edit' : '+result');
  if (!answer.ok) return [...parts, answer.code].join(' ');
  if (answer.duplicate) parts.push('duplicate');
  if (answer.resume)
    parts.push(answer.resume.length > 0 ? 'resume' : answer.forget?.length ? 'forget' : 'told');
  return parts.join(' ');
}

function effectName(effect: TurnEffect): string {
  return effect.type === 'deliver' ? `deliver#${effect.attempt}` : `${effect.type}:${effect.reason}`;
}

export const callId = 'call-1';
export const resume = (clientId: string, ...states: ('acknowledged' | 'running' | Report)[]): TurnInput => ({
  type: 'resume',
  clientId,
  entries: states.map((state) => ({ callId, state })),
});
export const progress = (
  clientId: string,
  status: 'acknowledged' | 'awaiting_approval' | 'running',
): TurnInput => ({
  type: 'progress',
  callId,
  clientId,
  status,
  note: null,
});

/** Applies timed inputs one after another. */
export function run(turn: Turn, ...inputs: [at: number, input: TurnInput][]): Step {
  let step: Step = { turn, events: [], effects: [], results: [], answer: { ok: true } };
  for (const [at, input] of inputs) step = take(step.turn, input, at);
  return step;
}
export const only = (step: Step): Call => step.turn.calls[0]!;
