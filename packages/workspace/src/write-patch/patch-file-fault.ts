import type { PatchErrorCode, PatchFault, PatchFaultDetails } from '@patchbay/protocol';

import { WorkspaceFault } from '../disk/workspace-fault.js';

/** Why one file of a batch cannot be patched. `message` is fit for the LLM: no absolute path, no errno. */
export class PatchFileFault extends Error {
  constructor(
    readonly code: PatchErrorCode,
    message: string,
    /** What is wrong with single changes, where the fault lies there. */
    readonly faults: readonly PatchFault[] = [],
    cause?: unknown,
    /** What there is to know of the whole file. */
    readonly details: PatchFaultDetails = {},
  ) {
    super(message, { cause });
    this.name = 'PatchFileFault';
  }

  /** The file is not what the patch was planned on, or says of it: a conflict, where all else is a failure. */
  get isConflict(): boolean {
    return this.code === 'STALE' || this.code === 'LINES_MISMATCH' || this.code === 'RANGE_BEYOND_END';
  }
}

/** Any error as a fault of one file; what was not foreseen is UnhandledException, without its details. */
export function toPatchFileFault(error: unknown): PatchFileFault {
  if (error instanceof PatchFileFault) return error;
  if (error instanceof WorkspaceFault) {
    const code = error.code === 'TooLarge' ? 'TOO_LARGE' : error.code;
    return new PatchFileFault(code, error.message, [], error);
  }
  return new PatchFileFault('UnhandledException', 'An unexpected error.', [], error);
}

/** There is no file for this docPath. */
export function notFound(docPath: string): PatchFileFault {
  return new PatchFileFault(
    'NOT_FOUND',
    `There is no file "${docPath}" in the connected folders. List the files; use workspace_create_file for a new one.`,
  );
}

/** The bytes on disk are not those that the patch was planned on. */
export function stale(originalSha256: string, currentSha256: string): PatchFileFault {
  return new PatchFileFault(
    'STALE',
    `The file's sha256 is ${currentSha256}, but the patch was planned on ${originalSha256}. ` +
      'Read the file again and plan the changes on its present text.',
    [],
    undefined,
    { currentSha256 },
  );
}
