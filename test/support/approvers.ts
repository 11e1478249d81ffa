import type { Approver } from '@patchbay/workspace';

/** A person who allows every call. */
export const allowsAll: Approver = {
  decide: () => Promise.resolve({ decision: 'allow', by: 'ada', at: new Date().toISOString() }),
};
