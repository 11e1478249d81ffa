import { type Collection, number, schemaOf, text, textOrNull } from './schemas.js';

/** `record` and `docPaths` are JSON; null if they are in parts, and then `ids` has documents of its own. */
export interface PatchDocument {
  _id: string;
  workspaceId: string;
  sessionId: string;
  turnId: string;
  createdAt: number;
  /** True until the sweep has found its turn. */
  loose: boolean;
  /** False while its other documents are being written; it is invisible until then. */
  whole: boolean;
  record: string | null;
  docPaths: string | null;
  recordBytes: number;
  docPathsBytes: number;
  /** Ids of its files and changes. */
  ids: string[];
}

/** Some of the ids of files and changes of a large batch. */
export interface PatchIdsDocument {
  _id: string;
  batch: string;
  ids: string[];
}

export const PATCHES = 'patches';
export const PATCH_IDS = 'patch_ids';

const flag = { type: Boolean, required: true };

export const PATCH_COLLECTIONS: readonly Collection[] = [
  {
    name: PATCHES,
    schema: schemaOf({
      ...{ workspaceId: text, sessionId: text, turnId: text, createdAt: number, loose: flag, whole: flag },
      ...{ record: textOrNull, docPaths: textOrNull, recordBytes: number, docPathsBytes: number },
      ids: [String],
    }),
    indexes: [
      { name: 'part', key: { ids: 1 } },
      { name: 'loose', key: { loose: 1, createdAt: 1 } },
    ],
  },
  {
    name: PATCH_IDS,
    schema: schemaOf({ batch: text, ids: [String] }),
    indexes: [
      { name: 'part', key: { ids: 1 } },
      { name: 'batch', key: { batch: 1 } },
    ],
  },
];
