import { isFinal, type ToolCallError } from '@patchbay/protocol';
import type { Call } from '../../storage/ports/turn.js';
import type { CallResult } from '../../storage/ports/turns.store.js';
import { editTooLarge, withinTurnBudget } from './result-budget.js';
import type { TurnAnswer, TurnDraft } from './turn-draft.js';
import type { Report, TurnInput } from './turn-input.js';

/** Part of `advance`: transitions caused by reports. */

/** `clientId` null: reported over HTTP. */
type Reported = { clientId: string | null; report: Report };
type Input<T extends TurnInput['type']> = Extract<TurnInput, { type: T }>;

/** Takes a valid report; otherwise answers and records why it changes nothing. */
export function report(draft: TurnDraft, call: Call, { clientId, report }: Reported): TurnAnswer {
  const objection = objectionTo(call, { clientId, report });
  draft.answer = objection ?? { ok: true };
  if (objection)
    draft.record(objection.ok ? 'DuplicateResult' : 'LateResult', call, clientId, report.summary);
  else if (report.status === 'approved') approve(draft, call, report, clientId);
  else end(draft, call, report, report.status, clientId);
  return draft.answer;
}

/** One refused report refuses all; only it is recorded as late. */
export function reportAll(draft: TurnDraft, { reports }: Input<'report_all'>): void {
  const named = reports.map(({ callId, report }) => ({ call: draft.find(callId)!, clientId: null, report }));
  const refused = named.filter(({ call, ...reported }) => objectionTo(call, reported)?.ok === false);
  for (const { call, ...reported } of refused.length > 0 ? refused : named) report(draft, call, reported);
  if (refused.length === 0) draft.answer = { ok: true };
  else if (!draft.answer.ok)
    draft.answer.message = `${refused.at(-1)!.call.toolCallId}: ${draft.answer.message}`;
}

/** Ends a call with the result of a server tool, including the person's decision. */
export function executed(draft: TurnDraft, call: Call, { report }: Input<'executed'>): void {
  if (call.status !== 'executing' || report.status === 'approved') {
    draft.refuse('LATE_RESULT', `The call has ended already: ${call.status}.`);
    return draft.record('LateResult', call, null, report.summary);
  }
  const { digest = report.digest, summary } = call.approved ?? {};
  end(draft, call, { ...report, digest, summary: { ...report.summary, ...summary } }, report.status, null);
}

/** Why a report changes nothing; null if it is to be taken. */
function objectionTo(call: Call, { clientId, report }: Reported): TurnAnswer | null {
  if (call.status === 'cancelled' || call.status === 'timed_out') {
    return { ok: false, code: 'LATE_RESULT', message: `The call has ended already: ${call.status}.` };
  }
  // A released call keeps its last holder, so that what that client did meanwhile is not repeated.
  const isForeign = clientId === null ? false : call.clientId !== clientId;
  const isServerReport = call.location === 'server' && (!call.needsApproval || clientId === null);
  if (isServerReport || isForeign) {
    return { ok: false, code: 'CONFLICT', message: 'This client does not hold the call.' };
  }
  if (call.approved === undefined && !isFinal(call.status)) return statusMismatch(call, report);
  if ((call.approved?.digest ?? call.reportDigest) === report.digest) return { ok: true, duplicate: true };
  const message = call.approved
    ? 'The call was decided otherwise.'
    : 'The call has ended with another result.';
  return { ok: false, code: 'CONFLICT', message };
}

/** A server call takes a decision, any other a result; both take a denial. */
function statusMismatch(call: Call, { status }: Report): TurnAnswer | null {
  if (status === 'denied' || (status === 'approved') === (call.needsApproval === true)) return null;
  const message = call.needsApproval
    ? 'The server runs this call: report what was decided.'
    : 'The call waits for a result.';
  return { ok: false, code: 'CONFLICT', message };
}

/**
 * Hands the call to the server, which runs it when no earlier server call waits. An edit is stored within the turn's
 * budget; an oversized edit is refused.
 */
function approve(draft: TurnDraft, call: Call, report: Report, clientId: string | null): void {
  const { digest, summary: fields, editedArguments, bytes } = report;
  if (bytes > draft.resultBudget) return draft.refuse('TOO_LARGE', editTooLarge(bytes, draft.resultBudget));
  const summary = { approval: fields.approval ?? null };
  const approved = { digest, summary, ...(editedArguments !== undefined && { editedAt: draft.now }) };
  if (editedArguments !== undefined) draft.results.push({ callId: call.callId, editedArguments });
  draft.resultBudget -= bytes;
  const next = draft.replace(call, { status: 'accepted', approved, releaseAt: null, retryAt: null });
  draft.record('Approved', next, clientId, fields);
}

function end(
  draft: TurnDraft,
  call: Call,
  report: Report,
  status: 'succeeded' | 'failed' | 'denied',
  clientId: string | null,
): void {
  const taken = withinTurnBudget(report, draft.resultBudget);
  const { error, executionMs, digest: reportDigest, warnings: found = [] } = taken;
  const { divergences = [], notUploaded = [] } = taken;
  const finalStatus = taken === report ? status : 'failed';
  const endedBy = clientId !== null ? 'client' : call.location === 'server' ? 'server' : 'orchestrator';
  const warnings = [...call.warnings, ...found];
  const change = { executionMs, reportDigest, warnings };
  const ended = draft.close(call, finalStatus, endedBy, error && withoutDetails(error), change);
  draft.resultBudget -= taken.bytes;
  if (finalStatus !== 'denied') draft.results.push(resultOf(call, taken));
  draft.record(finalStatus === 'denied' ? 'Denied' : 'ResultReceived', ended, clientId, taken.summary);
  const { batchId, revertOf } = call.subject;
  if (finalStatus === 'succeeded' && typeof revertOf === 'string')
    draft.record('Reverted', ended, clientId, { batchId: revertOf, revertBatchId: batchId ?? null });
  for (const fields of divergences) draft.record('Diverged', ended, clientId, fields);
  for (const fields of notUploaded) draft.record('NotUploaded', ended, clientId, fields);
}

/** Error details are stored with the result. */
function withoutDetails({ code, message }: ToolCallError): ToolCallError {
  return { code, message };
}

function resultOf({ callId }: Call, { result, error, editedArguments }: Report): CallResult {
  const details = error?.details;
  return {
    ...{ callId, result },
    ...(details !== undefined && { details }),
    ...(editedArguments !== undefined && { editedArguments }),
  };
}
