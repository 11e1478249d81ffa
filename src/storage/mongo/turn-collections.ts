import { type Collection, number, schemaOf, text } from './schemas.js';

/** Bytes that a user has added to the turns of a workspace in an hour, counted from the epoch. */
export interface TurnBytesDocument {
  _id: string;
  userId: string;
  hour: number;
  workspaceId: string;
  bytes: number;
}

export const TURN_BYTES = 'turn_bytes';

export const TURN_COLLECTIONS: readonly Collection[] = [
  {
    name: TURN_BYTES,
    schema: schemaOf({ userId: text, hour: number, workspaceId: text, bytes: number }),
    indexes: [
      { name: 'user', key: { userId: 1, hour: 1 } },
      { name: 'workspace', key: { workspaceId: 1, hour: 1 } },
    ],
  },
];
