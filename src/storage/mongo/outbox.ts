import { Schema } from 'mongoose';
import type { AuditDraft } from '../ports/audit.store.js';
import { type Index, number, text, textOrNull } from './schemas.js';
import { checked } from './values.js';

/** An audit event that was written with the change that it records, and waits to be appended to the trail. */
export interface OutboxEntry {
  eventId: string;
  /** The draft as JSON: its fields have any keys. Or where that lies (`placeOf`). */
  draft: string;
}

/** What an aggregate with audit events keeps beside its own fields. */
export interface WithOutbox {
  /** What is not in the trail yet, the oldest first. */
  outbox: OutboxEntry[];
  /** Counts the writes that put something into the outbox: whoever empties it has seen all of them. */
  outboxWrites: number;
  /** The workspace in whose trail the outbox belongs; null while it is empty. */
  pendingIn: string | null;
}

/** The part of a schema that `WithOutbox` is. */
export const OUTBOX_FIELDS: { [Field in keyof WithOutbox]: unknown } = {
  outbox: [new Schema({ eventId: text, draft: text }, { _id: false, strict: 'throw' })],
  outboxWrites: number,
  pendingIn: textOrNull,
};

/** By which a projector finds what waits in a workspace. */
export const OUTBOX_INDEX: Index = { name: 'pending', key: { pendingIn: 1 } };

/** What an insert writes beside the aggregate. `drafts`: as the entries have them. */
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

/** The parts of an update that put events into the outbox: to be joined with `$set`, `$inc` and `$push` of the aggregate. */
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

/** Refuses an event whose names the trail would not give back as they are; a projector could only get stuck on it. */
export function checkedDraft(event: AuditDraft): AuditDraft {
  const { name, sessionId, conversationId, turnId, callId, actor } = event;
  checked([name, sessionId, conversationId, turnId, callId, actor]);
  return event;
}

/** An event as an entry has it. */
export function textOfDraft(event: AuditDraft): string {
  return JSON.stringify(checkedDraft(event));
}

function entriesOf(events: readonly AuditDraft[], drafts: readonly string[]): OutboxEntry[] {
  return events.map(({ eventId }, at) => ({ eventId, draft: drafts[at]! }));
}
