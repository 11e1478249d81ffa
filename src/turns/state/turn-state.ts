import { type AuditStep, type CallErrorCode, type CallStatus, isFinal } from '@patchbay/protocol';
import type { Call, Turn } from '../../storage/ports/turn.js';
import { executed, report, reportAll } from './call-reports.js';
import { deadlineOf } from './deadlines.js';
import { startNext } from './server-order.js';
import { timeoutError } from './timeout-error.js';
import { TurnDraft, type TurnStep } from './turn-draft.js';
import type { ResumedCall, ProgressStatus, TurnInput } from './turn-input.js';

/**
 * The turn state machine as one pure function: an input in, the next turn and its events out. Actions after the commit
 * follow from the two states (`effectsOf`). It uses no clock, store or socket.
 */

/** Pause before a refused call is sent again, ms [RELAY-5]. */
export const REFUSAL_PAUSE_MS = 5_000;

type Inputs = { [T in TurnInput['type']]: Extract<TurnInput, { type: T }> };

/**
 * Applies one input at `now` (epoch ms) on `node`, which takes the turn's server calls unless another node has the
 * lease. Final states never change.
 */
export function advance(turn: Turn, input: TurnInput, now: number, node: string): TurnStep {
  const draft = new TurnDraft(turn, now);
  apply(draft, input);
  if (draft.changed) startNext(draft, node);
  return draft.finish();
}

/** Whether a client holds the call, so that it counts against its window. */
export function isInFlight(call: Call): boolean {
  return PROGRESS.includes(call.status);
}

/** Statuses of a call that a client holds, in order; each implies the earlier ones. */
const PROGRESS: readonly CallStatus[] = ['forwarded', 'acknowledged', 'awaiting_approval', 'running'];

const STEP_OF: Record<ProgressStatus, AuditStep> = {
  acknowledged: 'Acknowledged',
  awaiting_approval: 'AwaitingApproval',
  running: 'Running',
};

const TRANSITIONS: { [T in TurnInput['type']]: (draft: TurnDraft, input: Inputs[T]) => void } = {
  claim: (draft, input) => onCall(draft, input, claim),
  progress: (draft, input) => onCall(draft, input, progress),
  refuse: (draft, input) => onCall(draft, input, refuse),
  report: (draft, input) => onCall(draft, input, report),
  report_all: reportAll,
  executed: (draft, input) => onCall(draft, input, executed),
  lease: (draft, { lease }) => draft.renew(lease),
  node_started: nodeStarted,
  client_left: clientLeft,
  withdraw,
  resume,
  cancel,
  tick: (draft) => draft.turn.calls.forEach((call) => tick(draft, call)),
};

function apply<T extends TurnInput['type']>(draft: TurnDraft, input: Inputs[T]): void {
  TRANSITIONS[input.type](draft, input);
}

function onCall<I extends { callId: string }>(
  draft: TurnDraft,
  input: I,
  transition: (draft: TurnDraft, call: Call, input: I) => void,
): void {
  const call = draft.find(input.callId);
  if (call) transition(draft, call, input);
  else draft.refuse('NOT_FOUND', 'This turn has no such call.');
}

/** A call waits for a bound client; a claim for any other expires without an acknowledgement. */
function claim(draft: TurnDraft, call: Call, { clientId, folder, ackWithinMs }: Inputs['claim']): void {
  if (call.status !== 'pending' || (call.retryAt !== null && call.retryAt > draft.now)) {
    return draft.refuse('CONFLICT', 'The call is not waiting for a client.');
  }
  const releaseAt = waitsFor(draft, call, clientId) ? null : draft.now + ackWithinMs;
  const change = {
    status: 'forwarded',
    attempt: call.attempt + 1,
    clientId,
    releaseAt,
    retryAt: null,
  } as const;
  draft.record('Forwarded', draft.replace(call, change), clientId, { ...call.subject });
  if (folder === null) return;
  draft.lastClientId = clientId;
  draft.folder ??= folder;
}

/** A call of a bound session waits for its client, unless the tool is one that clients bring. */
function waitsFor({ turn }: TurnDraft, { offer }: Call, clientId: string): boolean {
  return offer === undefined && turn.boundClientId === clientId;
}

/** Only the holder advances a call, and only forward; a repeated step changes nothing. */
function progress(draft: TurnDraft, call: Call, { clientId, status, note }: Inputs['progress']): void {
  if (isFinal(call.status)) return draft.refuse('LATE_RESULT', `The call has ended already: ${call.status}.`);
  if (!holds(call, clientId)) return draft.refuse('CONFLICT', 'This client does not hold the call.');
  if (status === 'running' && call.needsApproval) {
    return draft.refuse('CONFLICT', 'The server runs this call: report what was decided.');
  }
  if (PROGRESS.indexOf(status) > PROGRESS.indexOf(call.status)) reach(draft, call, clientId, status, note);
}

function holds(call: Call, clientId: string): boolean {
  return isInFlight(call) && call.clientId === clientId;
}

function reach(
  draft: TurnDraft,
  call: Call,
  clientId: string,
  status: ProgressStatus,
  note: string | null = null,
): void {
  const { approvalMs, executionMs } = { ...draft.turn.clocks, ...call.offer?.clocks };
  const reached = draft.replace(call, {
    status,
    clientId,
    releaseAt: null,
    retryAt: null,
    approvalAt: call.approvalAt ?? draft.now + approvalMs,
    executionAt: status === 'running' ? draft.now + executionMs : null,
  });
  draft.record(STEP_OF[status], reached, clientId, note === null ? {} : { note });
}

function refuse(draft: TurnDraft, call: Call, { clientId, attempt, message }: Inputs['refuse']): void {
  if (call.status !== 'forwarded' || call.clientId !== clientId || call.attempt !== attempt) return;
  const retryAt = draft.now + REFUSAL_PAUSE_MS;
  draft.release(call, { reason: 'refused', note: message }, { retryAt, refusedBy: clientId });
}

/** A call waits for a bound client; unacknowledged calls of another become free after the grace period. */
function clientLeft(draft: TurnDraft, { clientId, graceMs }: Inputs['client_left']): void {
  for (const call of draft.turn.calls) {
    const releaseAt = draft.now + graceMs;
    if (
      !waitsFor(draft, call, clientId) &&
      call.status === 'forwarded' &&
      call.clientId === clientId &&
      (call.releaseAt ?? Infinity) > releaseAt
    ) {
      draft.replace(call, { releaseAt });
    }
  }
}

/** Calls that do not run move to another client that offers their contract, or end as TOOL_GONE. A running one goes on. */
function withdraw(draft: TurnDraft, { clientId, callIds, elsewhere }: Inputs['withdraw']): void {
  for (const callId of callIds) {
    const call = draft.find(callId);
    if (call === undefined || isFinal(call.status) || call.status === 'running') continue;
    const isHeld = isInFlight(call);
    if (isHeld && call.clientId !== clientId) continue;
    if (!elsewhere.has(call.contractDigest!)) endGone(draft, call, clientId);
    else if (isHeld)
      draft.release(call, { reason: 'tool_withdrawn' }, { refusedBy: clientId, retryAt: null });
  }
}

function endGone(draft: TurnDraft, call: Call, clientId: string): void {
  const code: CallErrorCode = 'TOOL_GONE';
  const message = `The tool ${call.name} has changed or went away before the call ran. Look at the tools of the session again.`;
  const ended = draft.close(call, 'failed', 'server', { code, message });
  draft.record('ResultReceived', ended, clientId, { ...call.subject, success: false, errorCode: code });
}

/** Calls missing in a journal become pending if not begun; the others are continued, ended or forgotten. */
function resume(draft: TurnDraft, { clientId, entries }: Inputs['resume']): void {
  const forgotten: string[] = [];
  const resumed: string[] = [];
  const journal = new Map(entries.map((entry) => [entry.callId, entry]));
  for (const call of draft.turn.calls) {
    const entry = journal.get(call.callId);
    if (entry) (resumeCall(draft, call, clientId, entry) ? resumed : forgotten).push(call.callId);
    else if (holds(call, clientId)) lose(draft, call, clientId);
  }
  draft.answer = { ok: true, forget: forgotten, resume: resumed };
}

/** The client lost a call that it held. It is sent again only if it cannot have begun [RELAY-4]. */
function lose(draft: TurnDraft, call: Call, clientId: string): void {
  if (call.status !== 'running') return draft.release(call, { reason: 'unknown_to_client' });
  const code: CallErrorCode = 'OUTCOME_UNKNOWN';
  const message =
    'The client was running this call and has lost its record of it. It may have taken effect: check before you repeat it.';
  const ended = draft.close(call, 'failed', 'server', { code, message });
  draft.record('ResultReceived', ended, clientId, { ...call.subject, success: false, errorCode: code });
}

/** Whether the client is to continue with the call. */
function resumeCall(draft: TurnDraft, call: Call, clientId: string, { state }: ResumedCall): boolean {
  const { boundClientId } = draft.turn;
  // A call that was never sent is held by nobody, whatever a journal says.
  const wasSent = call.status === 'pending' && call.attempt > 0;
  const isBound = boundClientId !== null && call.offer === undefined;
  const isResumable = wasSent && (!isBound || boundClientId === clientId);
  if (typeof state === 'object') {
    const { callId } = call;
    const answer = report(draft, isResumable ? { ...call, clientId } : call, { clientId, report: state });
    if (answer.ok || answer.code !== 'TOO_LARGE') return false;
    // Still undecided: the client reports again and gets the error.
    return resumeCall(draft, call, clientId, { callId, state: 'awaiting_approval' });
  }
  if (!isResumable && !holds(call, clientId)) return false;
  const reached = call.needsApproval && state === 'running' ? 'awaiting_approval' : state;
  if (isResumable || PROGRESS.indexOf(reached) > PROGRESS.indexOf(call.status))
    reach(draft, call, clientId, reached);
  return true;
}

function cancel(draft: TurnDraft, { toolCallId, byUserId, why }: Inputs['cancel']): void {
  const named = draft.calls.filter((call) => toolCallId === null || call.toolCallId === toolCallId);
  if (named.length === 0) return draft.refuse('NOT_FOUND', 'This turn has no such tool call.');
  const code: CallErrorCode = 'CANCELLED';
  for (const call of named.filter(({ status }) => !isFinal(status))) {
    const error = { code, message: why ?? 'The orchestrator cancelled the call.' };
    const ended = draft.close(call, 'cancelled', 'orchestrator', error);
    draft.events.push({
      step: 'Cancelled',
      call: ended,
      clientId: null,
      userId: byUserId,
      fields: { errorCode: code },
    });
  }
  if (toolCallId === null) draft.markCancelled({ byUserId, why });
}

/** Ends calls of the restarted node, and calls without a recorded node. */
function nodeStarted(draft: TurnDraft, { node }: Inputs['node_started']): void {
  if (draft.turn.lease !== null && draft.turn.lease.owner !== node) return;
  for (const call of draft.calls.filter(({ status }) => status === 'executing')) interrupt(draft, call);
}

/** The effect of the call is unknown, so it is not run again. */
function interrupt(draft: TurnDraft, call: Call): void {
  const message =
    'The server stopped while this call ran. Check whether it took effect before you repeat it.';
  const error = { code: 'INTERNAL_ERROR', message };
  const ended = draft.close(call, 'failed', 'server', error);
  draft.record('ResultReceived', ended, null, { ...call.subject, success: false, errorCode: error.code });
}

function tick(draft: TurnDraft, call: Call): void {
  if (isFinal(call.status)) return;
  if (call.status === 'executing') {
    if ((draft.turn.lease?.until ?? Infinity) <= draft.now) interrupt(draft, call);
    return;
  }
  const deadline = deadlineOf(call);
  if (deadline !== null && deadline <= draft.now) return timeOut(draft, call);
  if (call.releaseAt !== null && call.releaseAt <= draft.now) {
    return draft.release(call, { reason: 'client_left' }, { clientId: call.clientId });
  }
  if (call.retryAt !== null && call.retryAt <= draft.now) draft.replace(call, { retryAt: null });
}

function timeOut(draft: TurnDraft, call: Call): void {
  const error = timeoutError(call);
  const ended = draft.close(call, 'timed_out', 'clock', error);
  draft.record('TimedOut', ended, null, { errorCode: error.code });
}
