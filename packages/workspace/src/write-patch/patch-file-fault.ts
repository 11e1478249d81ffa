import type { PatchErrorCode, PatchFault, PatchFaultDetails } from '@patchbay/protocol';

import { WorkspaceFault } from '../disk/workspace-fault.js';

/** Why a file of a batch cannot be patched. `message` is safe for the LLM: no absolute path, no errno. */
export class PatchFileFault extends Error {
  constructor(
    readonly code: PatchErrorCode,
    message: string,
    /** Errors of single changes. */
    readonly faults: readonly PatchFault[] = [],
    cause?: unknown,
    /** Details about the whole file. */
    readonly details: PatchFaultDetails = {},
  ) {
    super(message, { cause });
    this.name = 'PatchFileFault';
  }

  /** A conflict: the file differs from what the patch expects. Other codes are failures. */
  get isConflict(): boolean {
    return this.code === 'STALE' || this.code === 'LINES_MISMATCH' || this.code === 'RANGE_BEYOND_END';
  }
}

/** Converts any error into a fault of a file. Unexpected errors become UnhandledException without details. */
export function toPatchFileFault(error: unknown): PatchFileFault {
  if (error instanceof PatchFileFault) return error;
  if (error instanceof WorkspaceFault) {
    const code = error.code === 'TooLarge' ? 'TOO_LARGE' : error.code;
    return new PatchFileFault(code, error.message, [], error);
  }
  return new PatchFileFault('UnhandledException', 'An unexpected error.', [], error);
}

export function notFound(docPath: string): PatchFileFault {
  return new PatchFileFault(
    'NOT_FOUND',
    `There is no file "${docPath}" in the connected folders. List the files; use workspace_create_file for a new one.`,
  );
}

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
