import type { AuditEvent, Json } from '@patchbay/protocol';
import type { AuditDraft } from '../ports/audit.store.js';

/** Events of one row of the trail: bounds what a query decodes to find one event. */
export const EVENTS_PER_ROW = 64;

/** An event as a row has it: without properties that are null, and without those that all events of the row share. */
type Part = { [name: string]: Json } & { fields?: { [name: string]: Json } };

/** Properties of an event that may be null; absent in a row. */
const NULLS = {
  ...{ sessionId: null, conversationId: null, turnId: null, toolCallId: null, callId: null, attempt: null },
  ...{ userId: null, clientId: null },
};

/** The events of a commit in rows, each as JSON: what all of its events share, then the rest of each event. */
export function toRows(events: readonly AuditDraft[]): { count: number; text: string }[] {
  const rows: { count: number; text: string }[] = [];
  for (let at = 0; at < events.length; at += EVENTS_PER_ROW) {
    const parts = events.slice(at, at + EVENTS_PER_ROW).map(toPart);
    const shared = parts.length === 1 ? {} : takeShared(parts);
    rows.push({ count: parts.length, text: JSON.stringify([shared, ...parts]) });
  }
  return rows;
}

/** The events of a row in order; `at` is epoch ms. */
export function fromRow(text: string): AuditDraft[] {
  const [shared, ...parts] = JSON.parse(text) as [Part, ...Part[]];
  return parts.map((part) => {
    const { userId, clientId, ...event } = { ...NULLS, ...shared, ...part };
    return { ...event, actor: { userId, clientId }, fields: { ...shared.fields, ...part.fields } } as AuditDraft;
  });
}

/** A text that a row contains if it has an event with this property, in `fields` or beside it. */
export function propertyText(name: string, value: string | boolean): string {
  return `${JSON.stringify(name)}:${JSON.stringify(value)}`;
}

function toPart({ actor, fields, ...event }: AuditDraft): Part {
  const part: Part = {};
  for (const [name, value] of Object.entries({ ...event, ...actor })) if (value !== null) part[name] = value;
  part.fields = { ...(fields as AuditEvent['fields']) };
  return part;
}

/** Removes from the parts what all of them have, and returns it. */
function takeShared(parts: readonly Part[]): Part {
  const shared: Part = takeEqual(parts);
  const fields = parts.map((part) => part.fields!);
  shared.fields = takeEqual(fields);
  return shared;
}

/** The same of plain objects, for texts and numbers. */
function takeEqual(objects: readonly { [name: string]: Json }[]): { [name: string]: Json } {
  const shared: { [name: string]: Json } = {};
  for (const [name, value] of Object.entries(objects[0]!)) {
    if (typeof value === 'object' || !objects.every((object) => object[name] === value)) continue;
    shared[name] = value;
    for (const object of objects) delete object[name];
  }
  return shared;
}
