import type { CloudChange } from '@patchbay/protocol';
import type { ClientName, ConnectionOrder } from '../ports/clients.store.js';
import type { KeyClaim } from '../ports/idempotency-keys.store.js';
import type { LoginRecord } from '../ports/logins.store.js';
import type { RootRecord } from '../ports/roots.store.js';
import type { SessionRecord } from '../ports/sessions.store.js';
import type { UserRecord } from '../ports/users.store.js';
import type { MemberRecord, Removal, WorkspaceRecord } from '../ports/workspaces.store.js';
import { FILE_COLLECTIONS } from './file-collections.js';
import { PART_COLLECTIONS } from './part-collections.js';
import { PATCH_COLLECTIONS } from './patch-collections.js';
import { type Collection, list, number, numberOrNull, schemaOf, text, textOrNull } from './schemas.js';
import { TRAIL_COLLECTIONS } from './trail-collections.js';
import { TURN_COLLECTIONS } from './turn-collections.js';
import { USAGE_COLLECTIONS } from './usage-collections.js';

/** The record as a document: its id is the `_id`. */
type Stored<Record extends { id: string }> = Omit<Record, 'id'> & { _id: string };

export type UserDocument = Stored<UserRecord>;
/** The one document of its collection: who was there before everybody else, whole, so that anybody can store them. */
export type FirstUserDocument = Omit<UserDocument, '_id'> & { _id: string; userId: string };
export type LoginDocument = Stored<LoginRecord>;
/** `removals`: those that are not settled; of several of one user the last counts. */
export type WorkspaceDocument = Omit<Stored<WorkspaceRecord>, 'approvals'> & {
  approvals: CloudChange[];
  removals: Omit<Removal, 'workspaceId'>[];
};
/** `contract` is JSON: its keys are anybody's. */
export interface ContractDocument {
  _id: string;
  contract: string;
}
/** `activeFiles` is JSON; `activeBytes`: what it counts, 0 before the first list. */
export type SessionDocument = SessionRecord & {
  _id: string;
  activeFiles: string;
  activeBytes: number;
};
/** `roots` and `statuses` are JSON; `revision` guards them; `seenAt` is `leftAt`, or else `until`. */
export type ClientDocument = ClientName &
  ConnectionOrder & {
    _id: string;
    name: string;
    node: string;
    connectedAt: number;
    until: number;
    leftAt: number | null;
    seenAt: number;
    roots: string;
    statuses: string;
    revision: number;
  };
export type RootDocument = RootRecord & { _id: string };
export type KeyDocument = KeyClaim & { _id: string };
export interface CheckDocument {
  _id: string;
  at: number;
}

/** The one document of its collection. */
export interface SchemaDocument {
  _id: string;
  version: number;
}

const members: { [Field in keyof MemberRecord]: unknown } = { userId: text, role: text, addedAt: number };
const removals = { userId: text, byUserId: text, removedAt: number };
const user = { email: text, fullName: textOrNull, passwordHash: text, createdAt: number };
const ofUser = { workspaceId: text, userId: text };

export const USERS = 'users';
export const FIRST_USER = 'first_user';
export const LOGINS = 'logins';
export const WORKSPACES = 'workspaces';
export const CONTRACTS = 'contracts';
export const SESSIONS = 'sessions';
export const CLIENTS = 'clients';
export const ROOTS = 'roots';
export const KEYS = 'idempotency_keys';
export const CHECKS = 'checks';
export const SCHEMA = 'schema';

/** Both say in what order they are listed. */
export const WORKSPACE_INDEXES = {
  member: { name: 'member', key: { 'members.userId': 1, createdAt: 1, _id: 1 } },
  maker: { name: 'maker', key: { createdBy: 1, createdAt: 1, _id: 1 } },
} as const;

/** Another number in the database does not open; counted up from the first release on. */
export const SCHEMA_VERSION = 1;

/** The one place that says what is in the database; `buildCollections` makes it so. */
export const COLLECTIONS: readonly Collection[] = [
  {
    name: USERS,
    schema: schemaOf(user),
    indexes: [{ name: 'email', key: { email: 1 }, unique: true }],
  },
  { name: FIRST_USER, schema: schemaOf({ userId: text, ...user }), indexes: [] },
  {
    name: LOGINS,
    schema: schemaOf({
      ...{ userId: text, familyHash: text, tokenHash: text, previousHash: textOrNull, seed: textOrNull },
      ...{ rotatedAt: number, expiresAt: number, createdAt: number },
    }),
    indexes: [{ name: 'expired', key: { expiresAt: 1 } }],
  },
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
  { name: CONTRACTS, schema: schemaOf({ contract: text }), indexes: [] },
  {
    name: SESSIONS,
    schema: schemaOf({
      ...{ id: text, ...ofUser, conversationId: text, clientId: textOrNull },
      ...{ tools: { type: [String], default: null }, createdAt: number, activeFiles: text },
      ...{ activeBytes: number },
    }),
    indexes: [{ name: 'user', key: { workspaceId: 1, userId: 1, createdAt: -1, id: -1 } }],
  },
  {
    name: CLIENTS,
    schema: schemaOf({
      ...{ ...ofUser, clientId: text, name: text, epoch: number, connectionId: text, node: text },
      ...{ connectedAt: number, until: number, leftAt: numberOrNull, seenAt: number },
      ...{ roots: text, statuses: text, revision: number },
    }),
    indexes: [
      { name: 'user', key: { workspaceId: 1, userId: 1, seenAt: -1, connectedAt: -1, clientId: 1 } },
      { name: 'node', key: { node: 1, leftAt: 1 } },
      { name: 'unseen', key: { until: 1 } },
    ],
  },
  {
    name: ROOTS,
    schema: schemaOf({ ...ofUser, docPath: text, name: text, rootId: text, claimedAt: number }),
    indexes: [{ name: 'workspace', key: { workspaceId: 1, docPath: 1 } }],
  },
  {
    name: KEYS,
    schema: schemaOf({ ...ofUser, key: text, sessionId: text, turnId: text, claimedAt: number }),
    indexes: [{ name: 'expired', key: { claimedAt: 1 } }],
  },
  { name: CHECKS, schema: schemaOf({ at: number }), indexes: [] },
  { name: SCHEMA, schema: schemaOf({ version: number }), indexes: [] },
  ...PART_COLLECTIONS,
  ...PATCH_COLLECTIONS,
  ...TRAIL_COLLECTIONS,
  ...TURN_COLLECTIONS,
  ...FILE_COLLECTIONS,
  ...USAGE_COLLECTIONS,
];
