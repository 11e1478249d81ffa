import type { Json, ToolCallError } from '@patchbay/protocol';
import type { Report } from './turn-input.js';

/** Error code of results over the budget of a call or a turn [TURN-12]. */

const CODE = 'TOO_LARGE';

/** Bytes of a value as compact JSON in UTF-8, as stored and sent. */
export function jsonBytes(value: Json | undefined): number {
  return value === undefined || value === null ? 0 : Buffer.byteLength(JSON.stringify(value));
}

/** The report without its result if that exceeds the budget of one call. */
export function withinCallBudget(report: Report, maxBytes: number): Report {
  if (report.bytes <= maxBytes) return report;
  return withoutResult(report, `over the limit of ${maxBytes} for one call`);
}

/** The report without its result if earlier results left too little room in the turn. */
export function withinTurnBudget(report: Report, room: number): Report {
  if (report.bytes <= room) return report;
  return withoutResult(report, `more than the ${room} that are left for the results of this turn`);
}

/** Why an edit that exceeds the turn's room is refused. */
export function editTooLarge(bytes: number, room: number): string {
  return (
    `The edited arguments have ${bytes} bytes of JSON, more than the ${room} that are left for edits and results of ` +
    'this turn. Nothing was decided: edit less, allow the call as it was posted, or deny it.'
  );
}

/** An error without its details, and a note that they exceeded the budget. */
export function withoutDetails({ code, message }: ToolCallError): ToolCallError {
  return { code, message: `${message} Its details are left out: they are over the budget of results.` };
}

/** The call has run: the audit trail keeps its summary, and the model is told to check. */
function withoutResult(report: Report, reason: string): Report {
  const { bytes, summary, status } = report;
  const ran =
    status === 'succeeded'
      ? 'The call succeeded, but its result was not stored'
      : 'The call failed, and its result was not stored';
  const message =
    `${ran}: it has ${bytes} bytes of JSON, ${reason}. Look at what the call has done before you repeat it, and ask for ` +
    'less: a smaller maxBytes, a range, a narrower path or search, fewer files.';
  return {
    ...report,
    ...{ status: 'failed', result: null, bytes: 0, error: { code: CODE, message } },
    summary: { ...summary, success: false, errorCode: CODE, reported: status },
  };
}
