import { CLOUD_CHANGES } from '@patchbay/protocol';

/** For no tool at all. */
export const NO_TOOL = 'none';

/** What `patchbay approvals` takes: names of tools, or none. */
export const APPROVAL_WORDS: readonly string[] = [...CLOUD_CHANGES, NO_TOOL];
