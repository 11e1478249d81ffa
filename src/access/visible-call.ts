import { type AuditEvent, CALL_ERRORS, ERRORS, type Json, type ToolCallError } from '@patchbay/protocol';
import type { Call } from '../storage/ports/turn.js';

/**
 * What somebody is to a call or batch: the user whose session it was made in, an owner of the workspace, or another
 * member. `visible-call.ts` and `visible-batch.ts` decide what each of them sees [MEMBER-4] [MEMBER-5].
 */
export type Viewer = 'user' | 'owner' | 'member';

/** Arguments as proposed and as edited, and the decision with its note. */
export function seesArguments(viewer: Viewer): boolean {
  return viewer !== 'member';
}

/** Results, details of errors and what a client says in its own words: they may quote a disk. */
export function seesResults(viewer: Viewer): boolean {
  return viewer === 'user';
}

type EndedCall = Pick<Call, 'status' | 'error' | 'location' | 'reportDigest' | 'batchId'>;

/** Why a call failed, without details. An owner sees the code, and of messages those that the server wrote itself. */
export function errorFor(viewer: Viewer, call: EndedCall): ToolCallError | null {
  const { error } = call;
  if (error === null || viewer === 'user') return error;
  if (viewer === 'member') return null;
  return { code: error.code, message: isOurs(call, error) ? error.message : meaningOf(error.code) };
}

/**
 * Whether the message holds nothing that a client has said or that was read on a disk. The faults of a batch quote the
 * text that it was held against, which may be that of an open buffer.
 */
function isOurs({ status, location, reportDigest, batchId }: EndedCall, { code }: ToolCallError): boolean {
  // What was denied has the note of the decision.
  if (status !== 'failed') return true;
  // A tool's own code stands for a failure that the tool reports in its result.
  if (location === 'server') return code in ERRORS || code in CALL_ERRORS;
  return reportDigest === null && batchId === null;
}

const UNSAID = 'The call failed. Only its user can see more than the code.';

function meaningOf(code: string): string {
  return (CALL_ERRORS as Record<string, string>)[code] ?? UNSAID;
}

/** Whether the event has words of a person or a client, which not every member sees. */
export function hasNote({ fields }: AuditEvent): boolean {
  return 'note' in fields || noteOf(fields.approval) !== null;
}

/** An event of the trail: the note of a status is for the call's user, that of a decision for owners too. */
export function eventFor(viewer: Viewer, event: AuditEvent): AuditEvent {
  if (!hasNote(event)) return event;
  const { note, approval, ...fields } = event.fields;
  const isDecisionShown = seesArguments(viewer) || noteOf(approval) === null;
  return {
    ...event,
    fields: {
      ...fields,
      ...(note !== undefined && seesResults(viewer) && { note }),
      ...(approval !== undefined && {
        approval: isDecisionShown ? approval : { ...asObject(approval), note: null },
      }),
    },
  };
}

function noteOf(approval: Json | undefined): Json {
  return asObject(approval).note ?? null;
}

function asObject(value: Json | undefined): { [name: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}
