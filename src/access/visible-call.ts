import { type AuditEvent, CALL_ERRORS, ERRORS, type Json, type ToolCallError } from '@patchbay/protocol';
import type { Call } from '../storage/ports/turn.js';

/**
 * Relation of a viewer to a call or batch: the session's user, an owner, or another member. It decides what they see
 * [MEMBER-4] [MEMBER-5].
 */
export type Viewer = 'user' | 'owner' | 'member';

/** Whether the viewer may see proposed and edited arguments, and the decision with its note. */
export function seesArguments(viewer: Viewer): boolean {
  return viewer !== 'member';
}

/** Whether the viewer may see results, error details and client texts, which may quote files of a disk. */
export function seesResults(viewer: Viewer): boolean {
  return viewer === 'user';
}

type EndedCall = Pick<Call, 'status' | 'error' | 'location' | 'reportDigest' | 'batchId'>;

/** Why a call failed, without details. An owner sees the code, and the message if the server wrote it. */
export function errorFor(viewer: Viewer, call: EndedCall): ToolCallError | null {
  const { error } = call;
  if (error === null || viewer === 'user') return error;
  if (viewer === 'member') return null;
  return { code: error.code, message: isOwn(call, error) ? error.message : genericMessage(error.code) };
}

/**
 * Whether the message contains nothing from a client or a disk. Faults of a batch quote the text it was checked
 * against, which may be an open buffer.
 */
function isOwn({ status, location, reportDigest, batchId }: EndedCall, { code }: ToolCallError): boolean {
  // The message of a denial contains the note of the decision.
  if (status !== 'failed') return true;
  // A tool-specific code comes from a failure that the tool reported in its result.
  if (location === 'server') return code in ERRORS || code in CALL_ERRORS;
  return reportDigest === null && batchId === null;
}

const HIDDEN_MESSAGE = 'The call failed. Only its user can see more than the code.';

function genericMessage(code: string): string {
  return (CALL_ERRORS as Record<string, string>)[code] ?? HIDDEN_MESSAGE;
}

/** Whether the event contains words of a person or client, which some members may not see. */
export function hasNote({ fields }: AuditEvent): boolean {
  return 'note' in fields || noteOf(fields.approval) !== null;
}

/** An audit event as its viewer may see it: status notes only for the call's user, decision notes also for owners. */
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
