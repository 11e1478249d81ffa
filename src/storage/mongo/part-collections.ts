import { type Collection, number, schemaOf, text } from './schemas.js';

/** A piece of immutable bytes. */
export interface PartDocument {
  _id: string;
  owner: string;
  /** From 0. */
  at: number;
  bytes: Buffer;
}

export const PARTS = 'parts';
export const PART_COLLECTIONS: readonly Collection[] = [
  {
    name: PARTS,
    schema: schemaOf({ owner: text, at: number, bytes: { type: Buffer, required: true } }),
    indexes: [{ name: 'owner', key: { owner: 1, at: 1 } }],
  },
];
