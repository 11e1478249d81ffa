import { createFile, type ToolContract, writePatch } from '@patchbay/protocol';

/** Tools that run on the user's machine, in the order of the catalog. */
export const CLIENT_TOOLS: readonly ToolContract[] = [createFile, writePatch];
