import type { Kind, Records } from '../transfer/records.js';
import { type ClientDocument, CLIENTS, type ContractDocument, CONTRACTS } from './collections.js';
import { type KeyDocument, KEYS, type LoginDocument, LOGINS, type RootDocument } from './collections.js';
import { ROOTS, type SessionDocument, SESSIONS, type UserDocument, USERS } from './collections.js';
import { keyOf } from './values.js';

export type Document = { _id: string } & Record<string, unknown>;

/** Records of which each is a document. */
export interface Small<Of extends Kind, Stored = Document> {
  collection: string;
  toDocument: (record: Records[Of]) => Document;
  toRecord: (document: Stored) => Records[Of];
}

interface SmallDocuments {
  users: UserDocument;
  logins: LoginDocument;
  contracts: ContractDocument;
  sessions: SessionDocument;
  clients: ClientDocument;
  roots: RootDocument;
  keys: KeyDocument;
}
export type SmallKind = keyof SmallDocuments;

const SMALL: { readonly [Of in SmallKind]: Small<Of, SmallDocuments[Of]> } = {
  users: {
    collection: USERS,
    toDocument: ({ id, ...user }) => ({ _id: id, ...user }),
    toRecord: ({ _id: id, ...user }) => ({ id, ...user }),
  },
  logins: {
    collection: LOGINS,
    toDocument: ({ id, ...login }) => ({ _id: id, ...login }),
    toRecord: ({ _id: id, ...login }) => ({ id, ...login }),
  },
  contracts: {
    collection: CONTRACTS,
    toDocument: ({ digest, contract }) => ({ _id: digest, contract }),
    toRecord: ({ _id: digest, contract }) => ({ digest, contract }),
  },
  sessions: {
    collection: SESSIONS,
    toDocument: ({ activeFiles, ...session }) => ({
      ...{ _id: keyOf(session.workspaceId, session.id), ...session },
      ...{ activeFiles: activeFiles ?? '[]', activeBytes: Buffer.byteLength(activeFiles ?? '') },
    }),
    toRecord: ({ _id, activeFiles, activeBytes, ...session }) => ({
      ...session,
      activeFiles: activeBytes === 0 ? null : activeFiles,
    }),
  },
  clients: {
    collection: CLIENTS,
    toDocument: (client) => ({
      ...{ _id: keyOf(client.workspaceId, client.userId, client.clientId), ...client },
      ...{ seenAt: client.leftAt ?? client.until, revision: 1 },
    }),
    toRecord: ({ _id, seenAt: _seenAt, revision: _revision, ...client }) => client,
  },
  roots: {
    collection: ROOTS,
    toDocument: (root) => ({ _id: keyOf(root.workspaceId, root.docPath), ...root }),
    toRecord: ({ _id, ...root }) => root,
  },
  keys: {
    collection: KEYS,
    toDocument: (key) => ({ _id: keyOf(key.workspaceId, key.userId, key.key), ...key }),
    toRecord: ({ _id, ...key }) => key,
  },
};

/** How records of a kind are kept; null for one that is more than a document each. */
export function smallOf<Of extends Kind>(kind: Of): Small<Of> | null {
  const small: { readonly [Of in Kind]?: unknown } = SMALL;
  return (small[kind] as Small<Of> | undefined) ?? null;
}
