import type { Json } from '@patchbay/protocol';
import type { TrailRecord } from '../ports/audit.store.js';
import type { FileRecord, FileVersion, FolderRecord } from '../ports/files.store.js';
import type { Turn } from '../ports/turn.js';
import type { Usage } from '../ports/usage.store.js';
import { RECORDS } from '../records/records.js';
import type { Removal, WorkspaceRecord } from '../ports/workspaces.store.js';

/** `removals`: the unsettled ones, by user. */
export type WholeWorkspace = WorkspaceRecord & { removals: Omit<Removal, 'workspaceId'>[] };
/** A blob; `read` returns its bytes. `looseSince`: since when it is unreferenced, epoch ms; null if it is not. */
export interface WholeBlob {
  workspaceId: string;
  sha256: string;
  size: number;
  holder: string;
  looseSince: number | null;
  markedAt: number | null;
  read: () => Promise<Uint8Array | null>;
}
/** Including deleted ones. */
export type WholeEntry = FileRecord | (FolderRecord & { deletedAt: number | null });
export type WholeVersion = FileVersion & { workspaceId: string; fileId: string };
/** `record` is the JSON of a `PatchBatchRecord`. `loose`: the sweep has not searched its turn yet. */
export interface WholeBatch {
  record: string;
  loose: boolean;
}
/** The stored values of a call beside its state; absent if it has none. */
export interface CallValues {
  arguments: Json;
  result?: Json;
  details?: Json;
  editedArguments?: Json;
}
/** `values` are those of its calls, in order. */
export type WholeTurn = Turn & { values: CallValues[] };
/** `members` by userId, without those who have nothing. */
export type WholeUsage = Usage & { workspaceId: string; members: (Usage & { userId: string })[] };

/** Everything in a store beside the declared records, independent of the backend, without derived data. */
export interface Records {
  workspaces: WholeWorkspace;
  blobs: WholeBlob;
  entries: WholeEntry;
  versions: WholeVersion;
  batches: WholeBatch;
  turns: WholeTurn;
  events: TrailRecord;
  usage: WholeUsage;
}
export type AggregateKind = keyof Records;
/** One of those, or the name of a declaration. */
export type Kind = string;

/** Kinds in export order, referenced ones first, with their names for people. */
export const KINDS: Readonly<Record<Kind, string>> = {
  workspaces: 'workspaces',
  ...Object.fromEntries(
    RECORDS.filter(({ isTransient }) => !isTransient).map(({ name }) => [name, name.replaceAll('_', ' ')]),
  ),
  ...({
    blobs: 'blobs',
    entries: 'files and folders',
    versions: 'versions',
    batches: 'patch batches',
    turns: 'turns',
    events: 'audit events',
    usage: 'usage counts',
  } satisfies { readonly [Of in Exclude<AggregateKind, 'workspaces'>]: string }),
};

/** The usage of a user or workspace that has nothing. */
export const NO_USAGE: Usage = { bytes: 0, files: 0, versions: 0, sessions: 0 };

export function isNoUsage({ bytes, files, versions, sessions }: Usage): boolean {
  return bytes === 0 && files === 0 && versions === 0 && sessions === 0;
}

/** An error that an operator can fix; its message is for them. */
export class TransferError extends Error {
  override readonly name = 'TransferError';
}

/** The input is not a complete export in a format that this release reads. */
export class ExportFileError extends Error {
  override readonly name = 'ExportFileError';
}
