import type { CloudChange } from '@patchbay/protocol';
import type { MemberRecord, Removal, WorkspaceRecord } from '../ports/workspaces.store.js';
import { FILE_COLLECTIONS } from './file-collections.js';
import { PART_COLLECTIONS } from './part-collections.js';
import { PATCH_COLLECTIONS } from './patch-collections.js';
import { RECORD_COLLECTIONS } from './record-collections.js';
import { type Collection, list, number, schemaOf, text } from './schemas.js';
import { TRAIL_COLLECTIONS } from './trail-collections.js';
import { TURN_COLLECTIONS } from './turn-collections.js';
import { USAGE_COLLECTIONS } from './usage-collections.js';

/** The record as a document, with its id as `_id`. */
type Stored<Record extends { id: string }> = Omit<Record, 'id'> & { _id: string };

/** `removals` are the unsettled ones; of several of one user the last counts. */
export type WorkspaceDocument = Omit<Stored<WorkspaceRecord>, 'approvals'> & {
  approvals: CloudChange[];
  removals: Omit<Removal, 'workspaceId'>[];
};
export interface CheckDocument {
  _id: string;
  at: number;
}

/** The only document of its collection. */
export interface SchemaDocument {
  _id: string;
  version: number;
}

const members: { [Field in keyof MemberRecord]: unknown } = { userId: text, role: text, addedAt: number };
const removals = { userId: text, byUserId: text, removedAt: number };

export const WORKSPACES = 'workspaces';
export const CHECKS = 'checks';
export const SCHEMA = 'schema';

/** Both determine a listing order. */
export const WORKSPACE_INDEXES = {
  member: { name: 'member', key: { 'members.userId': 1, createdAt: 1, _id: 1 } },
  maker: { name: 'maker', key: { createdBy: 1, createdAt: 1, _id: 1 } },
} as const;

/** A database with another number is refused; it is incremented from the first release on. */
export const SCHEMA_VERSION = 3;

/** The only declaration of the database; `buildCollections` applies it. */
export const COLLECTIONS: readonly Collection[] = [
  {
    name: WORKSPACES,
    schema: schemaOf({
      ...{ name: text, approvals: [String], createdAt: number, createdBy: text, version: number },
      ...{ members: list(members), removals: list(removals) },
    }),
    indexes: [
      WORKSPACE_INDEXES.member,
      WORKSPACE_INDEXES.maker,
      { name: 'unsettled', key: { 'removals.removedAt': 1 } },
    ],
  },
  { name: CHECKS, schema: schemaOf({ at: number }), indexes: [] },
  { name: SCHEMA, schema: schemaOf({ version: number }), indexes: [] },
  ...RECORD_COLLECTIONS,
  ...PART_COLLECTIONS,
  ...PATCH_COLLECTIONS,
  ...TRAIL_COLLECTIONS,
  ...TURN_COLLECTIONS,
  ...FILE_COLLECTIONS,
  ...USAGE_COLLECTIONS,
];
