import { OUTBOX_FIELDS, OUTBOX_INDEX, type WithOutbox } from './outbox.js';
import { type Collection, list, number, numberOrNull, schemaOf, text, textOrNull } from './schemas.js';

/** In the place of a value. No JSON is empty; and a condition that a field of an array is null always holds. */
export const NONE = '';

/** A call of a turn. A value is its JSON where it is small, else where its JSON lies: see `TurnTexts`. */
export interface CallEntry {
  callId: string;
  /** JSON of the `Call`. */
  state: string;
  arguments: string;
  /** `NONE` while there is none; so are edited arguments. */
  result: string;
  details: string | null;
  edited: string;
}

/** What of a turn changes with its saves, beside its calls. */
export interface TurnHead {
  version: number;
  /** JSON of the `Turn`, without its calls. */
  state: string;
  dueAt: number | null;
  /** While it is open, who runs its server calls. */
  leaseOwner: string | null;
  /** While it is open, its workspace. */
  openIn: string | null;
  /** While it is open, its user in its workspace: `memberKey`. */
  openOf: string | null;
  /** Once a client was used, the session in its workspace. */
  usedIn: string | null;
}

/** A turn: its `_id` is made of its workspace, session and turnId. */
export interface TurnDocument extends TurnHead, WithOutbox {
  _id: string;
  workspaceId: string;
  sessionId: string;
  turnId: string;
  userId: string;
  acceptedAt: number;
  /** Ours, and given in order: of the turns of one millisecond it says which came first. */
  firstCallId: string;
  callCount: number;
  calls: CallEntry[];
  /** Names of the texts that its values lie in. */
  texts: string[];
  /** At least the bytes of the outbox: what came into it since it was last seen empty. */
  outboxBytes: number;
}

/** A piece of what is too large for the document of a turn. */
export interface TurnTextDocument {
  _id: string;
  /** `_id` of the turn. */
  turn: string;
  /** Of all the pieces that one write brought; the turn has it among its `texts` where that write came to be. */
  name: string;
  bytes: Buffer;
  /** When it was written, epoch ms; null once somebody has looked whether the turn has it. */
  looseSince: number | null;
}

export const TURNS = 'turns';
export const TURN_TEXTS = 'turn_texts';

export const TURN_COLLECTIONS: readonly Collection[] = [
  {
    name: TURNS,
    schema: schemaOf({
      ...{ workspaceId: text, sessionId: text, turnId: text, userId: text, acceptedAt: number },
      ...{ firstCallId: text, callCount: number, version: number, state: text, dueAt: numberOrNull },
      ...{ leaseOwner: textOrNull, openIn: textOrNull, openOf: textOrNull, usedIn: textOrNull },
      calls: list({
        ...{ callId: text, state: text, arguments: text },
        ...{ result: text, details: textOrNull, edited: text },
      }),
      ...{ texts: [String], outboxBytes: number, ...OUTBOX_FIELDS },
    }),
    indexes: [
      { name: 'call', key: { 'calls.callId': 1 } },
      { name: 'open', key: { openIn: 1, acceptedAt: 1, firstCallId: 1, callCount: 1 } },
      { name: 'openOfMember', key: { openOf: 1, acceptedAt: 1, firstCallId: 1, callCount: 1 } },
      { name: 'use', key: { usedIn: 1, acceptedAt: -1, firstCallId: -1 } },
      { name: 'due', key: { dueAt: 1 } },
      { name: 'lease', key: { leaseOwner: 1 } },
      OUTBOX_INDEX,
    ],
  },
  {
    name: TURN_TEXTS,
    schema: schemaOf({
      ...{ turn: text, name: text, bytes: { type: Buffer, required: true }, looseSince: numberOrNull },
    }),
    indexes: [{ name: 'loose', key: { looseSince: 1 } }],
  },
];
