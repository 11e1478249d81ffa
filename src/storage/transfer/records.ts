import type { Json } from '@patchbay/protocol';
import type { TrailRecord } from '../ports/audit.store.js';
import type { ClientName, ConnectionOrder } from '../ports/clients.store.js';
import type { FileRecord, FileVersion, FolderRecord } from '../ports/files.store.js';
import type { KeyClaim } from '../ports/idempotency-keys.store.js';
import type { LoginRecord } from '../ports/logins.store.js';
import type { RootRecord } from '../ports/roots.store.js';
import type { SessionRecord } from '../ports/sessions.store.js';
import type { Turn } from '../ports/turn.js';
import type { Usage } from '../ports/usage.store.js';
import type { UserRecord } from '../ports/users.store.js';
import type { Removal, WorkspaceRecord } from '../ports/workspaces.store.js';

/** `removals`: those that are not settled, by user. */
export type WholeWorkspace = WorkspaceRecord & { removals: Omit<Removal, 'workspaceId'>[] };
/** `contract` is JSON. */
export interface WholeContract {
  digest: string;
  contract: string;
}
/** `activeFiles` is JSON; null where none were ever announced. */
export type WholeSession = SessionRecord & { activeFiles: string | null };
/** `roots` and `statuses` are JSON. */
export type WholeClient = ClientName &
  ConnectionOrder & {
    name: string;
    node: string;
    connectedAt: number;
    leftAt: number | null;
    until: number;
    roots: string;
    statuses: string;
  };
/** Without its bytes, which `read` gives. `looseSince`: since when no version refers to it, epoch ms; null where one does. */
export interface WholeBlob {
  workspaceId: string;
  sha256: string;
  size: number;
  holder: string;
  looseSince: number | null;
  markedAt: number | null;
  read: () => Promise<Uint8Array | null>;
}
/** Deleted ones, too. */
export type WholeEntry = FileRecord | (FolderRecord & { deletedAt: number | null });
export type WholeVersion = FileVersion & { workspaceId: string; fileId: string };
/** `record` is the JSON of a `PatchBatchRecord`. `loose`: the sweep has not looked for its turn yet. */
export interface WholeBatch {
  record: string;
  loose: boolean;
}
/** What is stored of a call beside its state; absent what it does not have. */
export interface CallValues {
  arguments: Json;
  result?: Json;
  details?: Json;
  editedArguments?: Json;
}
/** `values` are those of its calls, in their order. */
export type WholeTurn = Turn & { values: CallValues[] };
/** `members` by userId, those without anything left out. */
export type WholeUsage = Usage & { workspaceId: string; members: (Usage & { userId: string })[] };

/** All that a store holds, in the words of no backend. What follows from it, such as implied folders, is not in it. */
export interface Records {
  users: UserRecord;
  logins: LoginRecord;
  workspaces: WholeWorkspace;
  contracts: WholeContract;
  sessions: WholeSession;
  clients: WholeClient;
  roots: RootRecord;
  keys: KeyClaim;
  blobs: WholeBlob;
  entries: WholeEntry;
  versions: WholeVersion;
  batches: WholeBatch;
  turns: WholeTurn;
  events: TrailRecord;
  usage: WholeUsage;
}
export type Kind = keyof Records;

/** In the order in which they are exported: what is named comes before what names it. With the words for people. */
export const KINDS: { readonly [Of in Kind]: string } = {
  users: 'users',
  logins: 'logins',
  workspaces: 'workspaces',
  contracts: 'tool contracts',
  sessions: 'sessions',
  clients: 'clients',
  roots: 'roots',
  keys: 'idempotency keys',
  blobs: 'blobs',
  entries: 'files and folders',
  versions: 'versions',
  batches: 'patch batches',
  turns: 'turns',
  events: 'audit events',
  usage: 'usage counts',
};

/** What is counted of whoever has nothing. */
export const NO_USAGE: Usage = { bytes: 0, files: 0, versions: 0, sessions: 0 };

export function isNoUsage({ bytes, files, versions, sessions }: Usage): boolean {
  return bytes === 0 && files === 0 && versions === 0 && sessions === 0;
}

/** An operator can do something about it; its message is for them. */
export class TransferError extends Error {
  override readonly name = 'TransferError';
}

/** What is read is no whole export of a format that this release reads. */
export class ExportFileError extends Error {
  override readonly name = 'ExportFileError';
}
