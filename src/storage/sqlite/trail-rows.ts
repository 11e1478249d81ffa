import type { Json } from '@patchbay/protocol';
import type { AuditDraft } from '../ports/audit.store.js';
import { longId, shortId } from './short-ids.js';

/** Events of one row of the trail: bounds what a query decodes to find one event. */
export const EVENTS_PER_ROW = 64;

/** Properties of an event and of its actor in a row: a name of one letter each, since the trail is most of what is kept. */
const NAMES = {
  ...{ eventId: 'e', name: 'n', at: 't', sessionId: 's', conversationId: 'v', turnId: 'u', toolCallId: 'k' },
  ...{ callId: 'c', attempt: 'a', userId: 'p', clientId: 'd' },
} as const;
type Property = keyof typeof NAMES;
const PROPERTIES = Object.keys(NAMES) as Property[];
const IDS: ReadonlySet<Property> = new Set([
  'eventId',
  'sessionId',
  'conversationId',
  'turnId',
  'callId',
  'userId',
]);

type Fields = AuditDraft['fields'];
type Flat = { [Of in Property]: string | number | null };

/**
 * An event in a row: what differs from the event before it; the first one follows an event of nulls. `f` are all of its
 * fields, `g` those that it has beside the fields of the event before it.
 */
type Part = { [name: string]: Json } & { f?: Fields; g?: Fields };

const NOTHING = Object.fromEntries(PROPERTIES.map((property) => [property, null])) as unknown as Flat;

/** Events as a row has them. */
export interface TrailRow {
  events: readonly AuditDraft[];
  /** The earliest and the latest of their times, epoch ms. */
  firstAt: number;
  lastAt: number;
  /** Whether an event concerns more files than it names. */
  hasMorePaths: boolean;
  text: string;
}

/** The events of a commit in rows. */
export function toRows(events: readonly AuditDraft[]): TrailRow[] {
  const rows: TrailRow[] = [];
  for (let from = 0; from < events.length; from += EVENTS_PER_ROW) {
    const ofRow = events.slice(from, from + EVENTS_PER_ROW);
    const times = ofRow.map(({ at }) => at);
    rows.push({
      ...{ events: ofRow, firstAt: Math.min(...times), lastAt: Math.max(...times) },
      hasMorePaths: ofRow.some(({ fields }) => fields.morePaths !== undefined),
      text: JSON.stringify(toParts(ofRow)),
    });
  }
  return rows;
}

/** The events of a row in order. */
export function fromRow(text: string): AuditDraft[] {
  let [before, fields]: [Flat, Fields] = [NOTHING, {}];
  return (JSON.parse(text) as Part[]).map((part) => {
    const flat = { ...before };
    for (const property of PROPERTIES) {
      const value = part[NAMES[property]] as string | number | null | undefined;
      if (value === undefined) continue;
      flat[property] = IDS.has(property) && typeof value === 'string' ? longId(value) : value;
    }
    fields = part.f ?? { ...fields, ...part.g };
    before = flat;
    const { userId, clientId, ...event } = flat;
    return { ...event, actor: { userId, clientId }, fields } as AuditDraft;
  });
}

/** A text that a row contains if it has an event with this property, or with this field. */
export function propertyText(name: string, value: string | boolean): string {
  if (!(name in NAMES)) return `${JSON.stringify(name)}:${JSON.stringify(value)}`;
  const property = name as Property;
  const stored = IDS.has(property) && typeof value === 'string' ? shortId(value) : value;
  return `"${NAMES[property]}":${JSON.stringify(stored)}`;
}

function toParts(events: readonly AuditDraft[]): Part[] {
  let [before, fields]: [Flat, Fields] = [NOTHING, {}];
  return events.map((event) => {
    const part: Part = {};
    const { userId, clientId } = event.actor;
    const { eventId, name, at, sessionId, conversationId, turnId, toolCallId, callId, attempt } = event;
    const flat: Flat = {
      ...{
        eventId,
        name,
        at,
        sessionId,
        conversationId,
        turnId,
        toolCallId,
        callId,
        attempt,
        userId,
        clientId,
      },
    };
    for (const property of PROPERTIES) {
      const value = flat[property];
      if (value === before[property]) continue;
      part[NAMES[property]] = IDS.has(property) && typeof value === 'string' ? shortId(value) : value;
    }
    const more = fieldsBeside(fields, event.fields);
    if (more === null) part.f = event.fields;
    else part.g = more;
    [before, fields] = [flat, event.fields];
    return part;
  });
}

/** The fields that differ from those before; null if those are not the first ones now, since their order is kept. */
function fieldsBeside(before: Fields, now: Fields): Fields | null {
  const more: Fields = {};
  const names = namesOf(now);
  if (!namesOf(before).every((name, at) => name === names[at])) return null;
  for (const name of names) if (now[name] !== before[name]) more[name] = now[name]!;
  return more;
}

function namesOf(fields: Fields): string[] {
  return Object.keys(fields).filter((name) => fields[name] !== undefined);
}
