import type { TrailRecord } from '../ports/audit.store.js';
import { type Collection, number, numberOrNull, schemaOf, text, textOrNull } from './schemas.js';

/** A record of a trail; `_id` is its eventId. */
export interface TrailDocument extends Omit<TrailRecord, 'eventId'> {
  _id: string;
}

export function toDocument({ eventId, ...record }: TrailRecord): TrailDocument {
  return { _id: eventId, ...record };
}

export function toRecord({ _id: eventId, ...document }: TrailDocument): TrailRecord {
  return { eventId, ...document };
}

export const TRAIL = 'audit_events';

const OF_WORKSPACE = { workspaceId: 1 } as const;

/** Indexes for the whole trail, or for one turn, session or call, each in the order of the trail. */
export const TRAIL_INDEXES = {
  all: { name: 'seq', key: { ...OF_WORKSPACE, seq: 1 }, unique: true },
  turnId: { name: 'turn', key: { ...OF_WORKSPACE, turnId: 1, seq: 1 } },
  sessionId: { name: 'session', key: { ...OF_WORKSPACE, sessionId: 1, seq: 1 } },
  callId: { name: 'call', key: { ...OF_WORKSPACE, callId: 1, seq: 1 } },
} as const;

export const TRAIL_COLLECTIONS: readonly Collection[] = [
  {
    name: TRAIL,
    schema: schemaOf({
      ...{ workspaceId: text, seq: number, name: text, at: number },
      ...{ sessionId: textOrNull, conversationId: textOrNull, turnId: textOrNull },
      ...{ toolCallId: textOrNull, callId: textOrNull, attempt: numberOrNull },
      ...{ userId: textOrNull, clientId: textOrNull },
      ...{ toolName: textOrNull, success: { type: Boolean, default: null } },
      ...{ errorCode: textOrNull, path: textOrNull, fields: text },
    }),
    indexes: Object.values(TRAIL_INDEXES),
  },
];
