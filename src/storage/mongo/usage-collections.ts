import type { Usage } from '../ports/usage.store.js';
import { type Collection, list, number, schemaOf, text } from './schemas.js';

export interface MemberUsage extends Usage {
  userId: string;
}

/** What a workspace has, and what users have in it: one document, so that a recount sets all of it at once. */
export interface UsageDocument extends Usage {
  /** The workspace. */
  _id: string;
  members: MemberUsage[];
  /** Counts the changes. */
  revision: number;
  /** When it was last counted from what there is, epoch ms; 0: never. */
  recountedAt: number;
}

/** A process is about to write in a workspace, and to count that after the write. */
export interface CountingDocument {
  _id: string;
  process: string;
  workspaceId: string;
  /** When the process is taken to be gone, epoch ms; what it wrote last is then counted again from what is there. */
  until: number;
}

export const USAGE = 'usage';
export const COUNTING = 'usage_counting';

const usage: { [Field in keyof Usage]: unknown } = {
  ...{ bytes: number, files: number, versions: number, sessions: number },
};

export const USAGE_COLLECTIONS: readonly Collection[] = [
  {
    name: USAGE,
    schema: schemaOf({
      ...usage,
      members: list({ userId: text, ...usage }),
      revision: number,
      recountedAt: number,
    }),
    indexes: [{ name: 'member', key: { 'members.userId': 1 } }],
  },
  {
    name: COUNTING,
    schema: schemaOf({ process: text, workspaceId: text, until: number }),
    indexes: [
      { name: 'process', key: { process: 1 } },
      { name: 'until', key: { until: 1 } },
    ],
  },
];

export const NONE: Readonly<Usage> = { bytes: 0, files: 0, versions: 0, sessions: 0 };

/** Before anything was counted. */
export function usageOf(workspaceId: string): UsageDocument {
  return { _id: workspaceId, ...NONE, members: [], revision: 0, recountedAt: 0 };
}
