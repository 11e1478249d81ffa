import { OUTBOX_FIELDS, OUTBOX_INDEX, type WithOutbox } from './outbox.js';
import { type Collection, list, number, numberOrNull, schemaOf, text, textOrNull } from './schemas.js';

/** Stands for an absent value: no JSON is empty, and a null condition on an array's field always matches. */
export const NONE = '';

/** A call of a turn. A small value is stored as its JSON, a large one as the location of its JSON: see `TurnTexts`. */
export interface CallEntry {
  callId: string;
  /** JSON of the `Call`. */
  state: string;
  arguments: string;
  /** `NONE` until it is set, as for edited arguments. */
  result: string;
  details: string | null;
  edited: string;
}

/** The fields of a turn, beside its calls, that its saves change. */
export interface TurnHead {
  version: number;
  /** JSON of the `Turn`, without its calls. */
  state: string;
  dueAt: number | null;
  /** While open: the node that runs its server calls. */
  leaseOwner: string | null;
  /** While open: its workspace. */
  openIn: string | null;
  /** While open: its user in its workspace, as `memberKey`. */
  openOf: string | null;
  /** The session in its workspace, once it has used a client. */
  usedIn: string | null;
}

/** A turn; its `_id` combines its workspace, session and turnId. */
export interface TurnDocument extends TurnHead, WithOutbox {
  _id: string;
  workspaceId: string;
  sessionId: string;
  turnId: string;
  userId: string;
  acceptedAt: number;
  /** Our callIds ascend: they order the turns of one millisecond. */
  firstCallId: string;
  callCount: number;
  calls: CallEntry[];
  /** Names of the texts that contain its values. */
  texts: string[];
  /** Upper bound of the outbox's bytes: what was added since it was last seen empty. */
  outboxBytes: number;
}

/** A piece of what is too large for the document of a turn. */
export interface TurnTextDocument {
  _id: string;
  /** `_id` of the turn. */
  turn: string;
  /** Shared by all pieces of one write; the turn has it among its `texts` if that write succeeded. */
  name: string;
  bytes: Buffer;
  /** When it was written, epoch ms; null once its turn was checked. */
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
