import type { Usage } from '../ports/usage.store.js';
import { type Collection, list, number, schemaOf, text } from './schemas.js';

export interface MemberUsage extends Usage {
  userId: string;
}

/** The usage of a workspace and of its users: one document, so that a repair sets all of it at once. */
export interface UsageDocument extends Usage {
  /** The workspaceId. */
  _id: string;
  members: MemberUsage[];
}

export const USAGE = 'usage';

const usage: { [Field in keyof Usage]: unknown } = {
  ...{ bytes: number, files: number, versions: number, sessions: number },
};

export const USAGE_COLLECTIONS: readonly Collection[] = [
  {
    name: USAGE,
    schema: schemaOf({ ...usage, members: list({ userId: text, ...usage }) }),
    indexes: [{ name: 'member', key: { 'members.userId': 1 } }],
  },
];
