import type { Json } from '@patchbay/protocol';
import type { TrailRecord } from '../ports/audit.store.js';
import type { FileRecord, FileVersion, FolderRecord } from '../ports/files.store.js';
import type { Turn } from '../ports/turn.js';
import type { Usage } from '../ports/usage.store.js';
import { RECORDS } from '../records/records.js';
import type { Removal, WorkspaceRecord } from '../ports/workspaces.store.js';

/** `removals`: those that are not settled, by user. */
export type WholeWorkspace = WorkspaceRecord & { removals: Omit<Removal, 'workspaceId'>[] };
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

/** All that a store holds beside the declared records, in the words of no backend. What follows from it, such as implied folders, is not in it. */
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

/** In the order in which they are exported: what is named comes before what names it. With the words for people. */
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
