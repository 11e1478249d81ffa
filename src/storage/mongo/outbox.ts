import { Schema } from 'mongoose';
import type { AuditDraft } from '../ports/audit.store.js';
import { type Index, number, text, textOrNull } from './schemas.js';
import { checked } from './values.js';

/** An audit event, written with the change that it records, before it is appended to the trail. */
export interface OutboxEntry {
  eventId: string;
  /** The draft as JSON text, since its fields may have any keys; or its location (`locationOf`). */
  draft: string;
}

/** What an aggregate with audit events stores in addition to its own fields. */
export interface WithOutbox {
  /** Events that are not in the trail yet, oldest first. */
  outbox: OutboxEntry[];
  /** Incremented by every write to the outbox, so that whoever empties it knows that it saw all of them. */
  outboxWrites: number;
  /** The workspace of the outbox; null while it is empty. */
  pendingIn: string | null;
}

/** The schema of `WithOutbox`. */
export const OUTBOX_FIELDS: { [Field in keyof WithOutbox]: unknown } = {
  outbox: [new Schema({ eventId: text, draft: text }, { _id: false, strict: 'throw' })],
  outboxWrites: number,
  pendingIn: textOrNull,
};

/** Finds the non-empty outboxes of a workspace. */
export const OUTBOX_INDEX: Index = { name: 'pending', key: { pendingIn: 1 } };

/** The outbox fields of an insert. `drafts`: as the entries store them. */
export function outboxWith(
  workspaceId: string,
  events: readonly AuditDraft[],
  drafts: readonly string[] = events.map(textOfDraft),
): WithOutbox {
  return {
    outbox: entriesOf(events, drafts),
    outboxWrites: events.length === 0 ? 0 : 1,
    pendingIn: events.length === 0 ? null : workspaceId,
  };
}

/** The parts of an update that add events to the outbox, to merge with `$set`, `$inc` and `$push` of the aggregate. */
export function outboxUpdate(
  workspaceId: string,
  events: readonly AuditDraft[],
  drafts: readonly string[] = events.map(textOfDraft),
): {
  $set: { pendingIn?: string };
  $inc: { outboxWrites?: 1 };
  $push: { outbox?: { $each: OutboxEntry[] } };
} {
  if (events.length === 0) return { $set: {}, $inc: {}, $push: {} };
  return {
    $set: { pendingIn: workspaceId },
    $inc: { outboxWrites: 1 },
    $push: { outbox: { $each: entriesOf(events, drafts) } },
  };
}

/** Refuses an event whose names the trail would not return unchanged; the projector could never append it. */
export function checkedDraft(event: AuditDraft): AuditDraft {
  const { name, sessionId, conversationId, turnId, callId, actor } = event;
  checked([name, sessionId, conversationId, turnId, callId, actor]);
  return event;
}

/** An event as an outbox entry stores it. */
export function textOfDraft(event: AuditDraft): string {
  return JSON.stringify(checkedDraft(event));
}

function entriesOf(events: readonly AuditDraft[], drafts: readonly string[]): OutboxEntry[] {
  return events.map(({ eventId }, at) => ({ eventId, draft: drafts[at]! }));
}
