import { Schema } from 'mongoose';
import type { FileVersion } from '../ports/files.store.js';
import { OUTBOX_FIELDS, OUTBOX_INDEX, type WithOutbox } from './outbox.js';
import { type Collection, list, number, numberOrNull, schemaOf, text, textOrNull } from './schemas.js';

/** `coming` and `going` blobs may lack parts; readers do not see them. */
export type BlobState = 'coming' | 'here' | 'going';

export interface BlobDocument {
  _id: string;
  workspaceId: string;
  sha256: string;
  size: number;
  /** userId of the first uploader. */
  holder: string;
  state: BlobState;
  /** Since when it may be unreferenced; null if a version, which is never removed, references it. */
  checkAt: number | null;
  markedAt: number | null;
  /** Incremented by every request for it: what a sweep read is valid while this is unchanged. */
  revision: number;
  /** Identifies this blob among all past ones of its hash; names its parts. */
  generation: string;
  /** The bytes; null if they are in parts. */
  bytes: Buffer | null;
}

/**
 * A file, or a folder that was created explicitly. `place` is unique: derived from the docPath for a live entry, from
 * the id for any other. A folder has no versions, and its `updatedAt` is its `createdAt`.
 */
export interface EntryDocument extends WithOutbox {
  _id: string;
  id: string;
  kind: 'file' | 'folder';
  workspaceId: string;
  path: string;
  docPath: string;
  /** docPath of the parent folder. */
  parent: string;
  place: string;
  isLive: boolean;
  revision: number;
  lastNumber: number;
  head: FileVersion | null;
  /** The last versions; some of them may also be in the collection of versions. */
  fresh: FileVersion[];
  createdAt: number;
  updatedAt: number;
  deletedAt: number | null;
  holder: string;
}

export type VersionDocument = FileVersion & { _id: string; workspaceId: string; fileId: string };

/**
 * One spelling of a folder, by something live below it. `looseSince`: when it was last written, or an entry below it
 * removed, epoch ms; null once something live was seen below it since.
 */
export interface SpellingDocument {
  _id: string;
  workspaceId: string;
  /** docPath of the parent folder. */
  parent: string;
  path: string;
  docPath: string;
  looseSince: number | null;
}

export const BLOBS = 'blobs';
export const ENTRIES = 'entries';
export const VERSIONS = 'versions';
export const SPELLINGS = 'folder_spellings';

const requiredBoolean = { type: Boolean, required: true };
const version: { [Field in keyof FileVersion]: unknown } = {
  ...{ id: text, number, sha256: text, sizeBytes: number, shape: text, author: text, source: text },
  ...{ batchId: textOrNull, filePatchId: textOrNull, callId: textOrNull, conflict: requiredBoolean },
  isExecutable: { type: Boolean, default: null },
  createdAt: number,
};
const inWorkspace = { workspaceId: 1, isLive: 1 } as const;

export const FILE_COLLECTIONS: readonly Collection[] = [
  {
    name: BLOBS,
    schema: schemaOf({
      ...{ workspaceId: text, sha256: text, size: number, holder: text, state: text, checkAt: numberOrNull },
      ...{
        markedAt: numberOrNull,
        revision: number,
        generation: text,
        bytes: { type: Buffer, default: null },
      },
    }),
    indexes: [{ name: 'swept', key: { markedAt: 1, checkAt: 1 } }],
  },
  {
    name: ENTRIES,
    schema: schemaOf({
      ...{ id: text, kind: text, workspaceId: text, path: text, docPath: text, parent: text, place: text },
      ...{ isLive: requiredBoolean, revision: number, lastNumber: number, fresh: list(version) },
      head: { type: new Schema(version, { _id: false, strict: 'throw' }), default: null },
      ...{ createdAt: number, updatedAt: number, deletedAt: numberOrNull, holder: text },
      ...OUTBOX_FIELDS,
    }),
    indexes: [
      { name: 'place', key: { place: 1 }, unique: true },
      { name: 'below', key: { ...inWorkspace, docPath: 1 } },
      { name: 'children', key: { ...inWorkspace, parent: 1, path: 1 } },
      { name: 'files', key: { ...inWorkspace, kind: 1, docPath: 1, id: 1 } },
      { name: 'deleted_last', key: { ...inWorkspace, kind: 1, docPath: 1, deletedAt: -1, id: -1 } },
      { name: 'bytes', key: { workspaceId: 1, 'fresh.sha256': 1 } },
      { name: 'patch', key: { workspaceId: 1, 'fresh.filePatchId': 1 } },
      OUTBOX_INDEX,
    ],
  },
  {
    name: VERSIONS,
    schema: schemaOf({ workspaceId: text, fileId: text, ...version }),
    indexes: [
      { name: 'file', key: { workspaceId: 1, fileId: 1, number: -1 } },
      { name: 'id', key: { workspaceId: 1, fileId: 1, id: 1 } },
      { name: 'bytes', key: { workspaceId: 1, sha256: 1, fileId: 1, number: 1 } },
      { name: 'patch', key: { workspaceId: 1, filePatchId: 1, sha256: 1, number: 1 } },
    ],
  },
  {
    name: SPELLINGS,
    schema: schemaOf({
      workspaceId: text,
      parent: text,
      path: text,
      docPath: text,
      looseSince: numberOrNull,
    }),
    indexes: [
      { name: 'children', key: { workspaceId: 1, parent: 1, path: 1 } },
      { name: 'below', key: { workspaceId: 1, docPath: 1, path: 1 } },
      { name: 'loose', key: { looseSince: 1 } },
    ],
  },
];
